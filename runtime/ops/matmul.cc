// Matrix products: c[..., m, n] = sum over k of a[..., m, k] b[..., k, n].
//
// B batch dimensions (any number), M rows of a, K inner, N columns of b.
#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/ops/infer.h"
#include "runtime/ops/op_tables.h"
#include "runtime/ops/reference.h"
#include "runtime/ops/vjp_math.h"

namespace trencadis::ops {
namespace {

using ir::AttributeKind;
using ir::Attributes;
using ir::Val;
using ir::VjpContext;

absl::Status BadPair(Operands operands, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("operand 0 is ", operands[0].ToString(),
                                                 ", operand 1 is ", operands[1].ToString(), "; ",
                                                 what));
}

// Either b is one matrix for all of a's rows, or the batch dimensions are equal.
absl::Status CheckBatch(Operands operands, bool transpose_a) {
  const Shape& a = operands[0].shape;
  const Shape& b = operands[1].shape;
  if (a.rank() < 2 || b.rank() < 2) return BadPair(operands, "wanted at least rank 2 for both");
  if (b.rank() == 2) {
    if (transpose_a && a.rank() > 2) {
      return BadPair(operands, "with transpose_a a single matrix b needs an a of rank 2");
    }
    return absl::OkStatus();
  }
  const auto batch = [](const Shape& shape) {
    return absl::MakeConstSpan(shape.dims()).first(shape.rank() - 2);
  };
  if (batch(a) == batch(b)) return absl::OkStatus();
  return BadPair(operands, "the batch dimensions differ");
}

absl::StatusOr<ir::TypeList> InferMatmul(Operands operands, const Attributes& attributes) {
  const bool transpose_a = attributes.GetOr<bool>("transpose_a", false);
  const bool transpose_b = attributes.GetOr<bool>("transpose_b", false);
  TRENCADIS_RETURN_IF_ERROR(RequireFloat(operands, 0));
  TRENCADIS_RETURN_IF_ERROR(RequireDType(operands, 1, operands[0].dtype));
  TRENCADIS_RETURN_IF_ERROR(CheckBatch(operands, transpose_a));
  const int64_t k_of_a = operands[0].shape.dim(transpose_a ? -2 : -1);
  const int64_t k_of_b = operands[1].shape.dim(transpose_b ? -1 : -2);
  if (k_of_a != k_of_b) {
    return BadPair(operands,
                   absl::StrCat("the inner dimensions ", k_of_a, " and ", k_of_b, " differ"));
  }
  std::vector<int64_t> dims = operands[0].shape.dims();
  dims[dims.size() - 2] = operands[0].shape.dim(transpose_a ? -1 : -2);
  dims.back() = operands[1].shape.dim(transpose_b ? -2 : -1);
  const DType dtype = attributes.GetOr<DType>("dtype", operands[0].dtype);
  if (!IsFloat(dtype)) {
    return absl::InvalidArgumentError(
        absl::StrCat("dtype is ", DTypeName(dtype), "; wanted f32 or bf16"));
  }
  return ir::TypeList{{dtype, Shape(std::move(dims))}};
}

absl::StatusOr<Literals> MatmulReference(LiteralSpan x, const Attributes& attributes,
                                         const ir::TypeList& results) {
  const bool transpose_a = attributes.GetOr<bool>("transpose_a", false);
  const bool transpose_b = attributes.GetOr<bool>("transpose_b", false);
  const int64_t k_size = x[0].shape().dim(transpose_a ? -2 : -1);
  Literal c(results[0]);
  ForEachIndex(c.shape(), [&](absl::Span<const int64_t> index, int64_t flat) {
    std::vector<int64_t> a_index(index.begin(), index.end());
    std::vector<int64_t> b_index = a_index;
    if (x[1].shape().rank() == 2) b_index.erase(b_index.begin(), b_index.end() - 2);
    const int64_t m = index[index.size() - 2];
    const int64_t n = index.back();
    double sum = 0;
    for (int64_t k = 0; k < k_size; ++k) {
      a_index[a_index.size() - 2] = transpose_a ? k : m;
      a_index.back() = transpose_a ? m : k;
      b_index[b_index.size() - 2] = transpose_b ? n : k;
      b_index.back() = transpose_b ? k : n;
      sum += x[0].AsDouble(FlatIndex(x[0].shape(), a_index)) *
             x[1].AsDouble(FlatIndex(x[1].shape(), b_index));
    }
    c.SetDouble(flat, sum);
  });
  return Literals{std::move(c)};
}

Val Product(VjpContext& c, Val a, Val b, bool transpose_a, bool transpose_b) {
  return c.builder().Emit1("matmul", {a, b},
                           {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}});
}

// [..., M, N] -> [product of the others, N]
Val AsMatrix(VjpContext& c, Val x) {
  const Shape shape = c.builder().TypeOf(x).shape;
  int64_t rows = 1;
  for (int axis = 0; axis < shape.rank() - 1; ++axis) rows *= shape.dim(axis);
  return VjpMath(c).Reshape(x, {rows, shape.dim(-1)});
}

// C = A B, so dA = dC B^T and dB = A^T dC; each operand may itself be stored transposed.
absl::Status MatmulVjp(VjpContext& c) {
  const bool transpose_a = c.attributes().GetOr<bool>("transpose_a", false);
  const bool transpose_b = c.attributes().GetOr<bool>("transpose_b", false);
  const TensorType a_type = c.builder().TypeOf(c.operand(0));
  const TensorType b_type = c.builder().TypeOf(c.operand(1));
  Val dc = VjpMath(c).Convert(c.cotangent(0), a_type.dtype);
  if (c.NeedsGradient(0)) {
    const Val b = c.operand(1);
    c.SetGradient(0, transpose_a ? Product(c, b, dc, transpose_b, true)
                                 : Product(c, dc, b, false, !transpose_b));
  }
  if (c.NeedsGradient(1)) {
    Val a = c.operand(0);
    if (b_type.shape.rank() == 2 && a_type.shape.rank() > 2) {
      a = AsMatrix(c, a);
      dc = AsMatrix(c, dc);
    }
    c.SetGradient(1, transpose_b ? Product(c, dc, a, true, transpose_a)
                                 : Product(c, a, dc, !transpose_a, false));
  }
  return absl::OkStatus();
}

constexpr ir::AttributeDef kAttributes[] = {{"transpose_a", AttributeKind::kBool, false},
                                            {"transpose_b", AttributeKind::kBool, false},
                                            {"dtype", AttributeKind::kDType, false}};

constexpr ir::OpDef kOps[] = {
    {.name = "matmul",
     .num_operands = 2,
     .attributes = kAttributes,
     .traits = {.op_class = ir::OpClass::kContraction},
     .infer = InferMatmul,
     .reference = MatmulReference,
     .vjp = MatmulVjp,
     .vjp_reads_results = 0},
};

}  // namespace

OpTable MatmulOps() { return kOps; }

}  // namespace trencadis::ops
