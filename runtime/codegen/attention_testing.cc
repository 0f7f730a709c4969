#include "runtime/codegen/attention_testing.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <utility>

#include "runtime/base/status.h"
#include "runtime/codegen/parallel_run.h"

namespace trencadis::codegen {
namespace {

constexpr int kMostThreads = 4;

void FillRandom(TestTensor& tensor, std::mt19937& random) {
  std::normal_distribution<double> normal;
  for (int64_t i = 0; i < tensor.elements(); ++i) tensor.Set(i, normal(random));
}

void FillNan(TestTensor& tensor) {
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    tensor.Set(i, std::numeric_limits<double>::quiet_NaN());
  }
}

// One query's view of the keys.
struct Query {
  int64_t b, t, h;
};

int64_t RowOf(const AttentionSpec& s, const Query& q) {
  return ((q.b * s.queries + q.t) * s.heads + q.h) * s.head_dim;
}
int64_t KeyOf(const AttentionSpec& s, const Query& q, int64_t key) {
  const int64_t kv_head = q.h / (s.heads / s.kv_heads);
  return ((q.b * s.keys + key) * s.kv_heads + kv_head) * s.head_dim;
}
int64_t LseOf(const AttentionSpec& s, const Query& q) {
  return (q.b * s.heads + q.h) * s.queries + q.t;
}

bool Sees(const AttentionProblem& p, const Query& q, int64_t key) {
  const AttentionSpec& s = p.spec;
  const auto position = q.t + (s.has_offset ? static_cast<int64_t>(p.offset.Get(0)) : 0);
  if (s.causal && key > position) return false;
  if (s.window > 0 && key <= position - s.window) return false;
  return !s.has_segments ||
         p.q_segments.Get(q.b * s.queries + q.t) == p.kv_segments.Get(q.b * s.keys + key);
}

double Dot(const TestTensor& a, int64_t i, const TestTensor& b, int64_t j, int64_t n) {
  double sum = 0;
  for (int64_t d = 0; d < n; ++d) sum += a.Get(i + d) * b.Get(j + d);
  return sum;
}

template <typename Fn>
void ForQueries(const AttentionSpec& s, Fn fn) {
  for (int64_t b = 0; b < s.batch; ++b) {
    for (int64_t t = 0; t < s.queries; ++t) {
      for (int64_t h = 0; h < s.heads; ++h) fn(Query{b, t, h});
    }
  }
}

}  // namespace

void TestTensor::Unmap::operator()(char* mapping) const { munmap(mapping, bytes); }

TestTensor::TestTensor(DType dtype, int64_t elements) : dtype_(dtype), elements_(elements) {
  const int64_t page = sysconf(_SC_PAGESIZE);
  const int64_t bytes = elements * ByteSize(dtype);
  const int64_t accessible = (bytes + page - 1) / page * page;
  void* mapping =
      mmap(nullptr, accessible + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  TRENCADIS_CHECK(mapping != MAP_FAILED);
  mapping_ = {static_cast<char*>(mapping), Unmap{accessible + page}};
  offset_ = accessible - bytes;
  TRENCADIS_CHECK(mprotect(mapping_.get() + accessible, page, PROT_NONE) == 0);
}

double TestTensor::Get(int64_t i) const {
  if (dtype_ == DType::kF32) return reinterpret_cast<const float*>(data_start())[i];
  if (dtype_ == DType::kI32) return reinterpret_cast<const int32_t*>(data_start())[i];
  return ToF32(reinterpret_cast<const BF16*>(data_start())[i]);
}

void TestTensor::Set(int64_t i, double value) {
  if (dtype_ == DType::kF32) {
    reinterpret_cast<float*>(data_start())[i] = static_cast<float>(value);
  } else if (dtype_ == DType::kI32) {
    reinterpret_cast<int32_t*>(data_start())[i] = static_cast<int32_t>(value);
  } else {
    reinterpret_cast<BF16*>(data_start())[i] = ToBF16(static_cast<float>(value));
  }
}

bool TestTensor::SameBytes(const TestTensor& other) const {
  return elements_ == other.elements_ &&
         std::memcmp(data_start(), other.data_start(), elements_ * ByteSize(dtype_)) == 0;
}

AttentionProblem::AttentionProblem(const AttentionSpec& s)
    : spec(s),
      q(s.dtype, s.batch * s.queries * s.heads * s.head_dim),
      k(s.dtype, s.batch * s.keys * s.kv_heads * s.head_dim),
      v(s.dtype, k.elements()),
      q_segments(DType::kI32, s.batch * s.queries),
      kv_segments(DType::kI32, s.batch * s.keys),
      offset(DType::kI32, 1),
      out(s.dtype, q.elements()),
      lse(DType::kF32, s.batch * s.heads * s.queries),
      dout(s.dtype, q.elements()),
      dq(s.dtype, q.elements()),
      dk(s.dtype, k.elements()),
      dv(s.dtype, k.elements()) {
  std::mt19937 random(1);
  for (TestTensor* tensor : {&q, &k, &v, &dout}) FillRandom(*tensor, random);
  for (TestTensor* tensor : {&out, &lse, &dq, &dk, &dv}) FillNan(*tensor);
}

AttentionRunner::AttentionRunner(KernelCode code, std::unique_ptr<LoadedKernels> kernels,
                                 int64_t threads)
    : code_(std::move(code)),
      kernels_(std::move(kernels)),
      scratch_(DType::kF32, threads * code_.scratch_bytes_per_thread / 4),
      shared_scratch_(DType::kF32, code_.shared_scratch_bytes / 4) {
  FillNan(scratch_);
  FillNan(shared_scratch_);
}

absl::StatusOr<AttentionRunner> AttentionRunner::Create(const AttentionSpec& spec,
                                                        const Target& target) {
  TRENCADIS_ASSIGN_OR_RETURN(KernelCode code, CompileAttention(spec, target, "attention"));
  TRENCADIS_ASSIGN_OR_RETURN(auto kernels, LoadedKernels::Load({code.object}));
  return AttentionRunner(std::move(code), std::move(kernels), kMostThreads);
}

void AttentionRunner::Run(AttentionProblem& p, int threads) {
  std::vector<void*> buffers;
  const auto add = [&](std::initializer_list<TestTensor*> tensors) {
    for (TestTensor* tensor : tensors) buffers.push_back(tensor->data());
  };
  if (p.spec.backward) add({&p.dout});
  add({&p.q, &p.k, &p.v});
  if (p.spec.backward) add({&p.out, &p.lse});
  if (p.spec.has_segments) add({&p.q_segments, &p.kv_segments});
  if (p.spec.has_offset) add({&p.offset});
  if (p.spec.backward) {
    add({&p.dq, &p.dk, &p.dv});
  } else {
    add({&p.out, &p.lse});
  }
  if (code_.shared_scratch_bytes > 0) add({&shared_scratch_});
  for (const KernelStage& stage : code_.stages) {
    const auto function = kernels_->Find(stage.symbol);
    TRENCADIS_CHECK(function.ok());
    ParallelRun(*function, stage.units, stage.grain, threads, buffers.data(), scratch_.data(),
                code_.scratch_bytes_per_thread);
  }
}

void ReferenceAttention(AttentionProblem& p) {
  const AttentionSpec& s = p.spec;
  ForQueries(s, [&](const Query& query) {
    std::vector<double> sums(s.head_dim);
    double total = 0;
    for (int64_t key = 0; key < s.keys; ++key) {
      if (!Sees(p, query, key)) continue;
      const int64_t at = KeyOf(s, query, key);
      const double weight = std::exp(s.scale * Dot(p.q, RowOf(s, query), p.k, at, s.head_dim));
      total += weight;
      for (int64_t d = 0; d < s.head_dim; ++d) sums[d] += weight * p.v.Get(at + d);
    }
    for (int64_t d = 0; d < s.head_dim; ++d) {
      p.out.Set(RowOf(s, query) + d, total > 0 ? sums[d] / total : 0);
    }
    p.lse.Set(LseOf(s, query), std::log(total));
  });
}

void ReferenceAttentionGrad(AttentionProblem& p) {
  const AttentionSpec& s = p.spec;
  std::vector<double> dq(p.q.elements()), dk(p.k.elements()), dv(p.k.elements());
  ForQueries(s, [&](const Query& query) {
    const int64_t row = RowOf(s, query);
    const double delta = Dot(p.dout, row, p.out, row, s.head_dim);
    for (int64_t key = 0; key < s.keys; ++key) {
      if (!Sees(p, query, key)) continue;
      const int64_t at = KeyOf(s, query, key);
      const double probability =
          std::exp(s.scale * Dot(p.q, row, p.k, at, s.head_dim) - p.lse.Get(LseOf(s, query)));
      const double ds = probability * (Dot(p.dout, row, p.v, at, s.head_dim) - delta) * s.scale;
      for (int64_t d = 0; d < s.head_dim; ++d) {
        dq[row + d] += ds * p.k.Get(at + d);
        dk[at + d] += ds * p.q.Get(row + d);
        dv[at + d] += probability * p.dout.Get(row + d);
      }
    }
  });
  for (size_t i = 0; i < dq.size(); ++i) p.dq.Set(i, dq[i]);
  for (size_t i = 0; i < dk.size(); ++i) {
    p.dk.Set(i, dk[i]);
    p.dv.Set(i, dv[i]);
  }
}

}  // namespace trencadis::codegen
