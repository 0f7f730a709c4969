#include "runtime/codegen/library_matmul.h"

#include <omp.h>

#include <mutex>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"

namespace trencadis::codegen {
namespace {

using dnnl::memory;

dnnl::engine& Engine() {
  static auto* engine = new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return *engine;
}

dnnl::stream& Stream() {
  thread_local dnnl::stream stream(Engine());
  return stream;
}

memory::data_type ToLibrary(DType dtype) {
  return dtype == DType::kBF16 ? memory::data_type::bf16 : memory::data_type::f32;
}

// A batch of rows x columns matrices, each stored with `stride` elements between stored rows.
memory::desc Matrix(const MatMulSpec& spec, DType dtype, int64_t rows, int64_t columns,
                    bool transposed, int64_t stride, bool batched = true) {
  const int64_t stored_rows = transposed ? columns : rows;
  if (stride == 0) stride = transposed ? rows : columns;
  memory::dims dims{rows, columns};
  memory::dims strides{transposed ? 1 : stride, transposed ? stride : 1};
  if (spec.batch > 1) {
    dims.insert(dims.begin(), batched ? spec.batch : 1);
    strides.insert(strides.begin(), stored_rows * stride);
  }
  return memory::desc(dims, ToLibrary(dtype), strides);
}

memory::desc MatrixA(const MatMulSpec& spec) {
  return Matrix(spec, spec.a_dtype, spec.m, spec.k, spec.transpose_a, spec.lda);
}
memory::desc MatrixB(const MatMulSpec& spec) {
  return Matrix(spec, spec.b_dtype, spec.k, spec.n, spec.transpose_b, spec.ldb, spec.batched_b);
}
memory::desc MatrixC(const MatMulSpec& spec) {
  return Matrix(spec, spec.c_dtype, spec.m, spec.n, false, spec.ldc);
}

// What the library reads for the operand of a post-op.
memory::desc OperandDesc(const MatMulSpec& spec, PostOpKind kind) {
  const bool full = kind == PostOpKind::kAdd || kind == PostOpKind::kMul;
  if (full) return Matrix(spec, spec.c_dtype, spec.m, spec.n, false, 0);
  memory::dims dims(spec.batch > 1 ? 3 : 2, 1);
  if (kind == PostOpKind::kBias) dims.back() = spec.n;
  const DType dtype = kind == PostOpKind::kScaleBy ? DType::kF32 : spec.c_dtype;
  return memory::desc(dims, ToLibrary(dtype),
                      dims.size() == 3 ? memory::format_tag::abc : memory::format_tag::ab);
}

void Append(dnnl::post_ops& ops, const MatMulSpec& spec, const PostOp& post_op) {
  using dnnl::algorithm;
  switch (post_op.kind) {
    case PostOpKind::kScale:
      return ops.append_eltwise(1, algorithm::eltwise_linear, static_cast<float>(post_op.value), 0);
    case PostOpKind::kScaleBy:
    case PostOpKind::kMul:
      return ops.append_binary(algorithm::binary_mul, OperandDesc(spec, post_op.kind));
    case PostOpKind::kBias:
    case PostOpKind::kAdd:
      return ops.append_binary(algorithm::binary_add, OperandDesc(spec, post_op.kind));
    case PostOpKind::kRelu:
      return ops.append_eltwise(1, algorithm::eltwise_relu, 0, 0);
    case PostOpKind::kGeluErf:
      return ops.append_eltwise(1, algorithm::eltwise_gelu_erf, 0, 0);
    case PostOpKind::kGeluTanh:
      return ops.append_eltwise(1, algorithm::eltwise_gelu_tanh, 0, 0);
    case PostOpKind::kSilu:
      return ops.append_eltwise(1, algorithm::eltwise_swish, 1, 0);
    case PostOpKind::kAccumulate:
      return ops.append_sum(1);
  }
}

dnnl::matmul::primitive_desc Describe(const MatMulSpec& spec) {
  dnnl::post_ops ops;
  for (const PostOp& post_op : spec.post_ops) Append(ops, spec, post_op);
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  attributes.set_post_ops(ops);
  memory::desc b = MatrixB(spec);
  if (spec.packed_b) b = memory::desc(b.dims(), b.data_type(), memory::format_tag::any);
  return dnnl::matmul::primitive_desc(dnnl::matmul::desc(MatrixA(spec), b, MatrixC(spec)),
                                      attributes, Engine());
}

absl::Status LibraryError(const MatMulSpec& spec, const dnnl::error& error) {
  return absl::InternalError(
      absl::StrCat("oneDNN refused the product ", spec.ToString(), ": ", error.what()));
}

memory Argument(const memory::desc& desc, const void* data) {
  return memory(desc, Engine(), const_cast<void*>(data));
}

}  // namespace

// The description, and the generated code from its first use on.
class LibraryMatMul::Primitive {
 public:
  explicit Primitive(const MatMulSpec& spec) : desc(Describe(spec)), b_as_given(MatrixB(spec)) {
    for (size_t i = 0; i < spec.post_ops.size(); ++i) {
      const PostOpKind kind = spec.post_ops[i].kind;
      if (!TakesOperand(kind)) continue;
      operands.emplace_back(DNNL_ARG_ATTR_MULTIPLE_POST_OP(static_cast<int>(i)) | DNNL_ARG_SRC_1,
                            OperandDesc(spec, kind));
    }
  }

  const dnnl::matmul& code() {
    std::call_once(generate_, [this] { code_ = dnnl::matmul(desc); });
    return code_;
  }

  // One for all equal specs, as long as one of them lives.
  static std::shared_ptr<Primitive> Shared(const MatMulSpec& spec, int threads) {
    static auto* mutex = new std::mutex;
    static auto* primitives = new std::unordered_map<std::string, std::weak_ptr<Primitive>>;
    const std::string key = absl::StrCat(spec.ToString(), " threads=", threads);
    std::lock_guard<std::mutex> lock(*mutex);
    std::weak_ptr<Primitive>& slot = (*primitives)[key];
    std::shared_ptr<Primitive> primitive = slot.lock();
    if (primitive == nullptr) slot = primitive = std::make_shared<Primitive>(spec);
    return primitive;
  }

  const dnnl::matmul::primitive_desc desc;
  const memory::desc b_as_given;
  std::vector<std::pair<int, memory::desc>> operands;  // argument number, layout

 private:
  std::once_flag generate_;
  dnnl::matmul code_;
};

LibraryMatMul::LibraryMatMul(MatMulSpec spec, std::shared_ptr<Primitive> primitive)
    : MatMul(std::move(spec)), primitive_(std::move(primitive)) {}

absl::StatusOr<std::unique_ptr<MatMul>> LibraryMatMul::Create(const MatMulSpec& spec,
                                                              const Target& target) {
  // The library sizes scratchpads for the team that it would start now.
  const int team = omp_get_max_threads();
  omp_set_num_threads(target.threads);
  absl::StatusOr<std::unique_ptr<MatMul>> result;
  try {
    result =
        std::unique_ptr<MatMul>(new LibraryMatMul(spec, Primitive::Shared(spec, target.threads)));
  } catch (const dnnl::error& error) {
    result = LibraryError(spec, error);
  }
  omp_set_num_threads(team);
  return result;
}

int64_t LibraryMatMul::scratchpad_bytes() const {
  return static_cast<int64_t>(primitive_->desc.scratchpad_desc().get_size());
}

int64_t LibraryMatMul::packed_b_bytes() const {
  if (!spec().packed_b) return 0;
  return static_cast<int64_t>(primitive_->desc.weights_desc().get_size());
}

absl::Status LibraryMatMul::PackB(const void* b, void* packed) const {
  if (!spec().packed_b) return MatMul::PackB(b, packed);
  try {
    memory from = Argument(primitive_->b_as_given, b);
    memory to = Argument(primitive_->desc.weights_desc(), packed);
    dnnl::reorder(from, to).execute(Stream(), from, to);
    Stream().wait();
    return absl::OkStatus();
  } catch (const dnnl::error& error) {
    return LibraryError(spec(), error);
  }
}

absl::Status LibraryMatMul::Execute(const void* a, const void* b, void* c,
                                    absl::Span<const void* const> operands,
                                    void* scratchpad) const {
  const auto& desc = primitive_->desc;
  try {
    std::unordered_map<int, memory> arguments = {
        {DNNL_ARG_SRC, Argument(desc.src_desc(), a)},
        {DNNL_ARG_WEIGHTS, Argument(desc.weights_desc(), b)},
        {DNNL_ARG_DST, Argument(desc.dst_desc(), c)},
        {DNNL_ARG_SCRATCHPAD, Argument(desc.scratchpad_desc(), scratchpad)}};
    for (size_t i = 0; i < primitive_->operands.size(); ++i) {
      const auto& [number, layout] = primitive_->operands[i];
      arguments.emplace(number, Argument(layout, operands[i]));
    }
    primitive_->code().execute(Stream(), arguments);
    Stream().wait();
    return absl::OkStatus();
  } catch (const dnnl::error& error) {
    return LibraryError(spec(), error);
  }
}

}  // namespace trencadis::codegen
