// MatMul: a matrix product with its epilogue, by oneDNN, or by our own kernel where few rows meet a
// large matrix (decoding is bound by memory there, and the library reaches half of it).
//
// Letters: M rows and N columns of the result, K the contracted dimension.
//
// c[i] = epilogue(op(a[i]) . op(b[i])) for each of `batch` products; op transposes where asked. The
// sum and the epilogue are f32 and the result is rounded once, so a product with an epilogue may
// differ in the last bf16 bit from the same ops one by one. Results do not depend on the number of
// threads (on a host with AVX-512: oneDNN's products for AVX2 share sums out between threads), nor
// on the other rows; but rows of a product that our own kernel computes, at most 16, may differ in
// the last bits from the same rows in a larger one.
//
// Thread-safety: Execute is const and re-entrant; concurrent calls need their own scratchpads.
// Parallelism is OpenMP's. Never call Execute from within an OpenMP team, not even of one thread:
// the library would fork again on each call.
#ifndef TRENCADIS_RUNTIME_CODEGEN_MATMUL_H_
#define TRENCADIS_RUNTIME_CODEGEN_MATMUL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/codegen/target.h"
#include "runtime/core/dtype.h"

namespace trencadis::codegen {

// Steps of an epilogue on x, the f32 value of an element of c.
enum class PostOpKind : uint8_t {
  kScale,       // "scale": x * value
  kScaleBy,     // "scale_by": x * operand, one f32 in memory
  kBias,        // "bias": x + operand[column], N of c's dtype
  kAdd,         // "add": x + operand, [batch, M, N] of c's dtype
  kMul,         // "mul": x * operand, [batch, M, N] of c's dtype
  kRelu,        // "relu"
  kGeluErf,     // "gelu_erf": Hendrycks & Gimpel 2016, the exact form
  kGeluTanh,    // "gelu_tanh": the same, the tanh form
  kSilu,        // "silu": x * sigmoid(x)
  kAccumulate,  // "accumulate": x + the former value of c; only first
};

absl::string_view PostOpName(PostOpKind kind);
absl::StatusOr<PostOpKind> ParsePostOp(absl::string_view name);
// True for the kinds that take an operand in memory.
bool TakesOperand(PostOpKind kind);

struct PostOp {
  PostOpKind kind = PostOpKind::kScale;
  double value = 1.0;  // of kScale

  bool operator==(const PostOp&) const = default;
};

// What to compute; a plain value.
struct MatMulSpec {
  int64_t batch = 1;
  int64_t m = 0, n = 0, k = 0;
  // a and b have one dtype, f32 or bf16; c has that one or f32.
  DType a_dtype = DType::kF32, b_dtype = DType::kF32, c_dtype = DType::kF32;
  bool transpose_a = false;  // a is stored [batch, K, M], otherwise [batch, M, K]
  bool transpose_b =
      false;               // b is stored [batch, N, K] (a linear layer's weight), or [batch, K, N]
  bool batched_b = false;  // b has the batch dimension; otherwise it is shared by all
  bool packed_b = false;   // Execute's b is what PackB wrote. Needs !batched_b
  // Elements from one stored row of a matrix to the next; 0 = dense. Dense when batch > 1.
  int64_t lda = 0, ldb = 0, ldc = 0;
  std::vector<PostOp> post_ops;  // in order

  bool operator==(const MatMulSpec&) const = default;
  // "512x576x1536 bf16*bf16->f32 tb +bias+silu".
  std::string ToString() const;
};

class MatMul {
 public:
  // Prepares `spec`; costs microseconds, the library's code is generated at the first Execute.
  // Equal specs share it. A bf16 product for a target without AVX512-BF16 is computed in f32: its
  // operands are widened in the scratchpad and its result rounded. Errors: InvalidArgument for
  // dtypes, strides or an epilogue outside what the spec's fields allow.
  static absl::StatusOr<std::unique_ptr<MatMul>> Create(const MatMulSpec& spec,
                                                        const Target& target);
  virtual ~MatMul() = default;

  // Whether bf16 products run in bf16 arithmetic on `target`.
  static bool SupportsBF16(const Target& target) { return target.HasFeature("avx512bf16"); }
  // Whether a frozen b is worth a packed copy: never for a product of few rows in the layout that
  // our own kernel reads, and little (0-5 %) for many rows.
  static bool WantsPackedB(const MatMulSpec& spec);

  const MatMulSpec& spec() const { return spec_; }
  // Bytes that Execute needs at `scratchpad`, 64-byte aligned; may be 0.
  virtual int64_t scratchpad_bytes() const = 0;
  // Bytes of a packed b; 0 unless spec().packed_b.
  virtual int64_t packed_b_bytes() const { return 0; }

  // Writes the packed copy of `b` (as spec() describes b, ignoring packed_b) to `packed`, 64-byte
  // aligned. FailedPrecondition unless spec().packed_b.
  virtual absl::Status PackB(const void* b, void* packed) const;

  // Computes c. `operands`: one pointer per post op that takes one, in order. c may be the operand
  // of kAdd or kMul. A library failure is Internal.
  virtual absl::Status Execute(const void* a, const void* b, void* c,
                               absl::Span<const void* const> operands, void* scratchpad) const = 0;

 protected:
  explicit MatMul(MatMulSpec spec) : spec_(std::move(spec)) {}

 private:
  MatMulSpec spec_;
};

}  // namespace trencadis::codegen

#endif  // TRENCADIS_RUNTIME_CODEGEN_MATMUL_H_
