#include "runtime/codegen/linear_cross_entropy.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"

namespace trencadis::codegen {
namespace {

constexpr int64_t kAlignment = 64;
// Rows of a full chunk. With dw each chunk also reads and writes all of dw, which longer chunks
// spread over more work.
constexpr int64_t kChunkRows = 256;
constexpr int64_t kChunkRowsWithDw = 512;
// The last rows of a call run in the smallest prepared chunk that holds them, padded with zeros.
constexpr int64_t kLeastChunkRows = 32;

int64_t RoundUp(int64_t value, int64_t to) { return (value + to - 1) / to * to; }

absl::Status Check(const LinearCrossEntropySpec& spec) {
  if (!IsFloat(spec.dtype) || spec.rows < 0 || spec.width <= 0 || spec.vocabulary <= 0 ||
      (spec.needs_dw && !spec.with_grad) ||
      !(spec.label_smoothing >= 0 && spec.label_smoothing <= 1)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "linear cross-entropy of ", spec.rows, " rows, width ", spec.width, ", vocabulary ",
        spec.vocabulary, ", ", DTypeName(spec.dtype), ", smoothing ", spec.label_smoothing,
        ": wanted f32 or bf16, width and vocabulary above 0, smoothing in [0, 1], and dw only with "
        "gradients"));
  }
  return absl::OkStatus();
}

MatMulSpec ProductSpec(int64_t m, int64_t n, int64_t k, DType in, DType out) {
  MatMulSpec spec;
  spec.m = m;
  spec.n = n;
  spec.k = k;
  spec.a_dtype = spec.b_dtype = in;
  spec.c_dtype = out;
  return spec;
}

// Elements of dtype `dtype` from one row of a chunk's logits (f32) to the next.
int64_t LogitsStride(int64_t vocabulary, DType dtype) {
  return vocabulary * (static_cast<int64_t>(sizeof(float)) / ByteSize(dtype));
}

}  // namespace

absl::StatusOr<LinearCrossEntropy::ChunkProducts> LinearCrossEntropy::Prepare(
    int64_t rows, const Target& target) const {
  const int64_t d = spec_.width;
  const int64_t v = spec_.vocabulary;
  const DType dtype = spec_.dtype;
  ChunkProducts chunk;
  chunk.rows = rows;
  MatMulSpec logits = ProductSpec(rows, v, d, dtype, DType::kF32);
  logits.transpose_b = true;
  TRENCADIS_ASSIGN_OR_RETURN(chunk.logits, MatMul::Create(logits, target));
  if (spec_.with_grad) {
    MatMulSpec dx = ProductSpec(rows, d, v, dtype, dtype);
    dx.lda = LogitsStride(v, dtype);
    TRENCADIS_ASSIGN_OR_RETURN(chunk.dx, MatMul::Create(dx, target));
  }
  if (spec_.needs_dw) {
    MatMulSpec dw = ProductSpec(v, d, rows, dtype, DType::kF32);
    dw.transpose_a = true;
    dw.lda = LogitsStride(v, dtype);
    TRENCADIS_ASSIGN_OR_RETURN(chunk.dw_first, MatMul::Create(dw, target));
    dw.post_ops = {{PostOpKind::kAccumulate}};
    TRENCADIS_ASSIGN_OR_RETURN(chunk.dw_next, MatMul::Create(dw, target));
  }
  return chunk;
}

absl::StatusOr<std::unique_ptr<LinearCrossEntropy>> LinearCrossEntropy::Create(
    const LinearCrossEntropySpec& spec, const Target& target) {
  TRENCADIS_RETURN_IF_ERROR(Check(spec));
  auto op = std::unique_ptr<LinearCrossEntropy>(new LinearCrossEntropy(spec, target));
  const int64_t most = spec.needs_dw ? kChunkRowsWithDw : kChunkRows;
  const int64_t largest = std::min(most, RoundUp(spec.rows, kLeastChunkRows));
  int64_t product_bytes = 0;
  for (int64_t rows = largest; rows > 0;) {
    TRENCADIS_ASSIGN_OR_RETURN(ChunkProducts chunk, op->Prepare(rows, target));
    for (const auto* product : {&chunk.logits, &chunk.dx, &chunk.dw_first, &chunk.dw_next}) {
      if (*product != nullptr) {
        product_bytes = std::max(product_bytes, (*product)->scratchpad_bytes());
      }
    }
    op->chunks_.push_back(std::move(chunk));
    if (rows == kLeastChunkRows) break;
    rows = std::max(kLeastChunkRows, RoundUp(rows / 2, kLeastChunkRows));
  }
  op->LayOut(largest, product_bytes);
  return op;
}

void LinearCrossEntropy::LayOut(int64_t chunk_rows, int64_t product_bytes) {
  int64_t end = 0;
  const auto reserve = [&end](int64_t bytes) {
    const int64_t offset = end;
    end += RoundUp(bytes, kAlignment);
    return offset;
  };
  const int64_t row_bytes = spec_.width * ByteSize(spec_.dtype);
  layout_.row_index = reserve(spec_.rows * static_cast<int64_t>(sizeof(int32_t)));
  layout_.row_loss = reserve(chunk_rows * static_cast<int64_t>(sizeof(double)));
  layout_.row_hit = reserve(spec_.with_grad ? 0 : chunk_rows * static_cast<int64_t>(sizeof(bool)));
  layout_.x = reserve(chunk_rows * row_bytes);
  layout_.dx = reserve(spec_.with_grad ? chunk_rows * row_bytes : 0);
  layout_.logits = reserve(chunk_rows * spec_.vocabulary * static_cast<int64_t>(sizeof(float)));
  layout_.products = reserve(product_bytes);
  scratch_bytes_ = end;
}

absl::StatusOr<int64_t> LinearCrossEntropy::CompactRows(const int32_t* labels,
                                                        int32_t* rows) const {
  int64_t count = 0;
  for (int64_t i = 0; i < spec_.rows; ++i) {
    if (labels[i] == spec_.ignore_index) continue;
    if (labels[i] < 0 || labels[i] >= spec_.vocabulary) {
      return absl::InvalidArgumentError(
          absl::StrCat("label ", labels[i], " of row ", i, " is neither ", spec_.ignore_index,
                       " (ignored) nor in the vocabulary, 0 to ", spec_.vocabulary - 1));
    }
    rows[count++] = static_cast<int32_t>(i);
  }
  return count;
}

double LinearCrossEntropy::FinishRow(float* logits, int32_t label, float* lse, bool* hit) const {
  const int64_t v = spec_.vocabulary;
  const double smoothing = spec_.label_smoothing;
  const float label_logit = logits[label];
  const double mean = smoothing > 0 ? kernels_.sum_f32(logits, v) / static_cast<double>(v) : 0;
  const float largest = kernels_.max_f32(logits, v);
  const double sum = kernels_.exp_sum_f32(logits, v, largest, spec_.with_grad);
  const double log_sum = largest + std::log(sum);
  *lse = static_cast<float>(log_sum);
  if (spec_.with_grad) {
    // d loss / d logit = softmax - (1 - e) [v = label] - e / V.
    const auto scale = static_cast<float>(1.0 / sum);
    const auto spread = static_cast<float>(smoothing / static_cast<double>(v));
    const auto at_label =
        static_cast<float>(logits[label] / sum - (1.0 - smoothing) - static_cast<double>(spread));
    if (spec_.dtype == DType::kF32) {
      kernels_.affine_f32(logits, v, scale, -spread, logits);
      logits[label] = at_label;
    } else {
      auto* bits = reinterpret_cast<uint16_t*>(logits);
      kernels_.affine_bf16(logits, v, scale, -spread, bits);
      bits[label] = ToBF16(at_label).bits;
    }
  } else {
    *hit = label_logit == largest && std::find(logits, logits + label, largest) == logits + label;
  }
  return (1.0 - smoothing) * (log_sum - label_logit) + smoothing * (log_sum - mean);
}

absl::Status LinearCrossEntropy::ExecuteChunk(const ChunkProducts& chunk,
                                              absl::Span<const int32_t> rows, bool first,
                                              const Arguments& to, Sums& sums) const {
  const auto count = static_cast<int64_t>(rows.size());
  const int64_t row_bytes = spec_.width * ByteSize(spec_.dtype);
  char* x = to.scratch + layout_.x;
  char* dx = to.scratch + layout_.dx;
  auto* logits = reinterpret_cast<float*>(to.scratch + layout_.logits);
  auto* row_loss = reinterpret_cast<double*>(to.scratch + layout_.row_loss);
  auto* row_hit = reinterpret_cast<bool*>(to.scratch + layout_.row_hit);
  void* scratchpad = to.scratch + layout_.products;

  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(x + i * row_bytes, to.x + rows[i] * row_bytes, row_bytes);
  }
  std::memset(x + count * row_bytes, 0, (chunk.rows - count) * row_bytes);
  TRENCADIS_RETURN_IF_ERROR(chunk.logits->Execute(x, to.w, logits, {}, scratchpad));
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < chunk.rows; ++i) {
    float* row = logits + i * spec_.vocabulary;
    if (i < count) {
      row_loss[i] = FinishRow(row, to.labels[rows[i]], &to.results.lse[rows[i]], &row_hit[i]);
    } else if (spec_.with_grad) {
      std::memset(row, 0, spec_.vocabulary * sizeof(float));
    }
  }
  for (int64_t i = 0; i < count; ++i) sums.loss += row_loss[i];
  if (!spec_.with_grad) {
    sums.correct += static_cast<int32_t>(std::count(row_hit, row_hit + count, true));
    return absl::OkStatus();
  }
  TRENCADIS_RETURN_IF_ERROR(chunk.dx->Execute(logits, to.w, dx, {}, scratchpad));
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(static_cast<char*>(to.results.dx) + rows[i] * row_bytes, dx + i * row_bytes,
                row_bytes);
  }
  if (!spec_.needs_dw) return absl::OkStatus();
  const MatMul& dw = first ? *chunk.dw_first : *chunk.dw_next;
  return dw.Execute(logits, x, to.results.dw, {}, scratchpad);
}

absl::Status LinearCrossEntropy::Execute(const void* x, const void* w, const int32_t* labels,
                                         const Results& results, void* scratch) const {
  const Arguments to = {static_cast<const char*>(x), w, labels, results,
                        static_cast<char*>(scratch)};
  auto* rows = reinterpret_cast<int32_t*>(to.scratch + layout_.row_index);
  TRENCADIS_ASSIGN_OR_RETURN(const int64_t count, CompactRows(labels, rows));
  std::fill_n(results.lse, spec_.rows, 0.0f);
  if (spec_.with_grad) {
    std::memset(results.dx, 0, spec_.rows * spec_.width * ByteSize(spec_.dtype));
  }
  if (spec_.needs_dw && count == 0) {
    std::memset(results.dw, 0, spec_.vocabulary * spec_.width * sizeof(float));
  }
  Sums sums;
  for (int64_t begin = 0; begin < count;) {
    const int64_t left = count - begin;
    // The smallest chunk that takes all that is left, or else the largest.
    size_t chunk = 0;
    while (chunk + 1 < chunks_.size() && chunks_[chunk + 1].rows >= left) ++chunk;
    const int64_t taken = std::min(left, chunks_[chunk].rows);
    TRENCADIS_RETURN_IF_ERROR(ExecuteChunk(chunks_[chunk], absl::MakeConstSpan(rows + begin, taken),
                                           begin == 0, to, sums));
    begin += taken;
  }
  *results.loss_sum = static_cast<float>(sums.loss);
  if (!spec_.with_grad) *results.correct = sums.correct;
  return absl::OkStatus();
}

}  // namespace trencadis::codegen
