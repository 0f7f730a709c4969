// LinearCrossEntropy: the last projection of a language model fused with its loss.
//
// Letters: N rows (tokens), D width, V vocabulary.
//
// logits = x . w^T are made for a chunk of rows at a time and never for all; rows whose label is
// ignored take part in no product. Loss and statistics are f32; bf16 operands are multiplied in
// bf16, the logits' gradient rounded to bf16 for its products. Deterministic, whatever the number
// of threads.
//
// Thread-safety: Execute is const and re-entrant with distinct scratch; see matmul.h for OpenMP.
#ifndef TRENCADIS_RUNTIME_CODEGEN_LINEAR_CROSS_ENTROPY_H_
#define TRENCADIS_RUNTIME_CODEGEN_LINEAR_CROSS_ENTROPY_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/codegen/matmul.h"
#include "runtime/codegen/target.h"
#include "runtime/core/dtype.h"
#include "runtime/kernels/vector_kernels.h"

namespace trencadis::codegen {

struct LinearCrossEntropySpec {
  DType dtype = DType::kF32;  // of x, w and dx: f32 or bf16
  int64_t rows = 0;           // N
  int64_t width = 0;          // D
  int64_t vocabulary = 0;     // V
  int64_t ignore_index = -100;
  // The label's share 1 - e, the rest spread evenly over V (Szegedy et al. 2016, section 7).
  double label_smoothing = 0;
  bool with_grad = false;
  bool needs_dw = false;  // needs with_grad

  bool operator==(const LinearCrossEntropySpec&) const = default;
};

class LinearCrossEntropy {
 public:
  // InvalidArgument for an empty vocabulary or width, dtypes or flags outside the comments above.
  static absl::StatusOr<std::unique_ptr<LinearCrossEntropy>> Create(
      const LinearCrossEntropySpec& spec, const Target& target);

  const LinearCrossEntropySpec& spec() const { return spec_; }
  // Bytes that Execute needs at `scratch`, 64-byte aligned.
  int64_t scratch_bytes() const { return scratch_bytes_; }

  // Where Execute writes. Those that the spec does not ask for may be null.
  struct Results {
    float* loss_sum = nullptr;  // over rows with a label
    float* lse = nullptr;       // [N], 0 for ignored rows
    // Without with_grad: rows whose label is the first of the largest logits.
    int32_t* correct = nullptr;
    void* dx = nullptr;   // with_grad: [N,D] = dloss_sum/dx, 0 for ignored rows
    float* dw = nullptr;  // needs_dw: [V,D], overwritten
  };

  // x [N,D], w [V,D], labels i32 [N]. A label that is neither ignore_index nor in [0, V) is
  // InvalidArgument naming its row, and nothing is written.
  absl::Status Execute(const void* x, const void* w, const int32_t* labels, const Results& results,
                       void* scratch) const;

 private:
  // Products for a chunk of `rows` rows.
  struct ChunkProducts {
    int64_t rows = 0;
    std::unique_ptr<MatMul> logits;
    std::unique_ptr<MatMul> dx;
    std::unique_ptr<MatMul> dw_first;  // overwrites dw
    std::unique_ptr<MatMul> dw_next;   // adds to it
  };
  // Where the parts of the scratch begin, in bytes.
  struct Layout {
    int64_t row_index = 0;  // i32 [N]: the rows that have a label
    int64_t row_loss = 0;   // double [chunk]
    int64_t row_hit = 0;    // bool [chunk]: whether the row counts as correct
    int64_t x = 0;          // [chunk, D]
    int64_t dx = 0;         // [chunk, D]
    int64_t logits = 0;    // f32 [chunk, V]; then, row by row in place, their gradient in x's dtype
    int64_t products = 0;  // the library's scratchpad
  };
  struct Arguments {
    const char* x;
    const void* w;
    const int32_t* labels;
    const Results& results;
    char* scratch;
  };
  struct Sums {
    double loss = 0;
    int32_t correct = 0;
  };

  LinearCrossEntropy(const LinearCrossEntropySpec& spec, const Target& target)
      : spec_(spec),
        kernels_(kernels::VectorKernelsFor(target.cpu.c_str(), MatMul::SupportsBF16(target))) {}

  absl::StatusOr<ChunkProducts> Prepare(int64_t rows, const Target& target) const;
  void LayOut(int64_t chunk_rows, int64_t product_bytes);
  // Writes the numbers of the rows with a label to `rows`; returns how many.
  absl::StatusOr<int64_t> CompactRows(const int32_t* labels, int32_t* rows) const;
  // `rows` of x through `chunk`; adds to `sums`.
  absl::Status ExecuteChunk(const ChunkProducts& chunk, absl::Span<const int32_t> rows, bool first,
                            const Arguments& to, Sums& sums) const;
  // One row of logits: returns its loss, sets *lse, and *hit or, with_grad, turns the logits into
  // their gradient.
  double FinishRow(float* logits, int32_t label, float* lse, bool* hit) const;

  LinearCrossEntropySpec spec_;
  const kernels::VectorKernels& kernels_;
  std::vector<ChunkProducts> chunks_;  // by falling rows
  Layout layout_;
  int64_t scratch_bytes_ = 0;
};

}  // namespace trencadis::codegen

#endif  // TRENCADIS_RUNTIME_CODEGEN_LINEAR_CROSS_ENTROPY_H_
