#include "runtime/recipe/step_checks.h"

#include <cmath>
#include <initializer_list>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/recipe/recipe.h"

namespace trencadis::recipe {
namespace {

template <typename... Args>
absl::Status Invalid(const Args&... args) {
  return absl::InvalidArgumentError(absl::StrCat("recipe: ", args...));
}

// The bytes of a tensor, or an error when a dimension is negative or the product exceeds 2^48.
absl::StatusOr<uint64_t> BytesOf(uint32_t dtype, std::initializer_list<int64_t> dims) {
  TensorTypeProto proto;
  proto.set_dtype(dtype);
  for (int64_t dim : dims) proto.add_dims(dim);
  TRENCADIS_ASSIGN_OR_RETURN(const TensorType type, FromProto(proto));
  return static_cast<uint64_t>(type.byte_size());
}

absl::Status CheckSizes(const char* what,
                        const google::protobuf::RepeatedPtrField<BufferSlice>& slices,
                        const std::vector<uint64_t>& wanted) {
  if (static_cast<size_t>(slices.size()) != wanted.size()) {
    return Invalid("got ", slices.size(), " ", what, "s; wanted ", wanted.size());
  }
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (slices[static_cast<int>(i)].bytes() != wanted[i]) {
      return Invalid(what, " ", i, " has ", slices[static_cast<int>(i)].bytes(), " bytes; wanted ",
                     wanted[i]);
    }
  }
  return absl::OkStatus();
}

// Collects the sizes of a step's tensors; the first impossible one sticks.
class SizeList {
 public:
  void Add(uint32_t dtype, std::initializer_list<int64_t> dims) {
    absl::StatusOr<uint64_t> bytes = BytesOf(dtype, dims);
    if (bytes.ok()) {
      sizes_.push_back(*bytes);
    } else if (status_.ok()) {
      status_ = bytes.status();
    }
  }
  const absl::Status& status() const { return status_; }
  const std::vector<uint64_t>& sizes() const { return sizes_; }

 private:
  absl::Status status_;
  std::vector<uint64_t> sizes_;
};

constexpr uint32_t kF32 = static_cast<uint32_t>(DType::kF32);
constexpr uint32_t kI32 = static_cast<uint32_t>(DType::kI32);

absl::Status CheckTensors(const Step& step, const SizeList& operands, const SizeList& results) {
  TRENCADIS_RETURN_IF_ERROR(operands.status());
  TRENCADIS_RETURN_IF_ERROR(results.status());
  TRENCADIS_RETURN_IF_ERROR(CheckSizes("operand", step.operands(), operands.sizes()));
  return CheckSizes("result", step.results(), results.sizes());
}

absl::Status CheckKernel(const Step& step) {
  const KernelStep& kernel = step.kernel();
  for (const KernelStage& stage : kernel.stages()) {
    if (stage.units() < 0 || stage.grain() < 1) {
      return Invalid("stage ", stage.symbol(), " has ", stage.units(), " units and grain ",
                     stage.grain());
    }
  }
  const uint64_t scratch = step.scratch().bytes();
  const uint64_t shared = kernel.shared_scratch_bytes();
  const uint64_t own = kernel.scratch_bytes_per_thread();
  if (own % kArenaAlignment != 0) return Invalid("scratch of ", own, " bytes is not aligned");
  if (shared > scratch || own > scratch - shared) {
    return Invalid("kernel wants ", shared, " bytes of scratch and ", own,
                   " more per thread; the step has ", scratch);
  }
  return absl::OkStatus();
}

// Bytes of the operand that a post-op reads (0: it takes none), or an error for an unknown kind.
absl::StatusOr<uint64_t> PostOpBytes(const MatMulStep& matmul, absl::string_view kind) {
  for (absl::string_view plain : {"scale", "relu", "gelu_erf", "gelu_tanh", "silu", "accumulate"}) {
    if (kind == plain) return uint64_t{0};
  }
  if (kind == "scale_by") return uint64_t{sizeof(float)};
  if (kind == "bias") return BytesOf(matmul.c_dtype(), {matmul.n()});
  if (kind == "add" || kind == "mul") {
    return BytesOf(matmul.c_dtype(), {matmul.batch(), matmul.m(), matmul.n()});
  }
  return Invalid("post-op '", kind, "' is unknown");
}

absl::Status CheckPostOps(const Step& step) {
  int operand = 2;
  for (const MatMulStep::PostOp& op : step.matmul().post_ops()) {
    TRENCADIS_ASSIGN_OR_RETURN(const uint64_t bytes, PostOpBytes(step.matmul(), op.kind()));
    if (bytes == 0) continue;
    if (operand >= step.operands_size() || step.operands(operand).bytes() != bytes) {
      return Invalid("post-op ", op.kind(), " wants operand ", operand, " of ", bytes, " bytes");
    }
    ++operand;
  }
  if (operand == step.operands_size()) return absl::OkStatus();
  return Invalid("got ", step.operands_size(), " operands; wanted ", operand);
}

absl::Status CheckMatMulStep(const Step& step) {
  const MatMulStep& matmul = step.matmul();
  TRENCADIS_ASSIGN_OR_RETURN(const MatMulBytes bytes, CheckMatMul(matmul));
  if (step.operands_size() < 2 || step.results_size() != 1) {
    return Invalid("product has ", step.operands_size(), " operands and ", step.results_size(),
                   " results; wanted at least 2 and 1");
  }
  if (step.operands(0).bytes() != bytes.a) {
    return Invalid("operand a has ", step.operands(0).bytes(), " bytes; wanted ", bytes.a);
  }
  const bool packed = step.operands(1).space() == BufferSlice::PREPARED;
  if (packed != matmul.packed_b()) return Invalid("packed_b and operand b's memory disagree");
  if (!packed && step.operands(1).bytes() != bytes.b) {
    return Invalid("operand b has ", step.operands(1).bytes(), " bytes; wanted ", bytes.b);
  }
  if (step.results(0).bytes() != bytes.c) {
    return Invalid("the result has ", step.results(0).bytes(), " bytes; wanted ", bytes.c);
  }
  return CheckPostOps(step);
}

absl::Status CheckLinearCrossEntropy(const Step& step) {
  const LinearCrossEntropyStep& loss = step.linear_cross_entropy();
  if (!std::isfinite(loss.label_smoothing())) return Invalid("label smoothing");
  SizeList operands;
  operands.Add(loss.dtype(), {loss.rows(), loss.width()});
  operands.Add(loss.dtype(), {loss.vocabulary(), loss.width()});
  operands.Add(kI32, {loss.rows()});
  SizeList results;
  results.Add(kF32, {});
  results.Add(kF32, {loss.rows()});
  if (loss.with_grad()) {
    results.Add(loss.dtype(), {loss.rows(), loss.width()});
  } else {
    results.Add(kI32, {});
  }
  if (loss.with_grad() && loss.needs_dw()) {
    results.Add(kF32, {loss.vocabulary(), loss.width()});
  }
  return CheckTensors(step, operands, results);
}

}  // namespace

absl::StatusOr<MatMulBytes> CheckMatMul(const MatMulStep& matmul) {
  SizeList sizes;
  sizes.Add(matmul.a_dtype(), {matmul.batch(), matmul.m(), matmul.k()});
  sizes.Add(matmul.b_dtype(), {matmul.batched_b() ? matmul.batch() : 1, matmul.k(), matmul.n()});
  sizes.Add(matmul.c_dtype(), {matmul.batch(), matmul.m(), matmul.n()});
  TRENCADIS_RETURN_IF_ERROR(sizes.status());
  for (const MatMulStep::PostOp& op : matmul.post_ops()) {
    if (!std::isfinite(op.value())) return Invalid("post-op ", op.kind(), " by ", op.value());
    TRENCADIS_RETURN_IF_ERROR(PostOpBytes(matmul, op.kind()).status());
  }
  return MatMulBytes{sizes.sizes()[0], sizes.sizes()[1], sizes.sizes()[2]};
}

absl::Status CheckStepSizes(const Step& step) {
  switch (step.kind_case()) {
    case Step::kKernel:
      return CheckKernel(step);
    case Step::kMatmul:
      return CheckMatMulStep(step);
    case Step::kLinearCrossEntropy:
      return CheckLinearCrossEntropy(step);
    case Step::kBuiltin:
      if (step.builtin().name().empty()) return Invalid("builtin without a name");
      return absl::OkStatus();
    case Step::KIND_NOT_SET:
      break;
  }
  return Invalid("the step's kind is unknown");
}

}  // namespace trencadis::recipe
