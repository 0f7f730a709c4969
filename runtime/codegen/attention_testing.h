// Attention kernels, compiled, loaded and run on tensors of doubles: for tests and benchmarks.
#ifndef TRENCADIS_RUNTIME_CODEGEN_ATTENTION_TESTING_H_
#define TRENCADIS_RUNTIME_CODEGEN_ATTENTION_TESTING_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/codegen/attention.h"
#include "runtime/codegen/loaded_kernels.h"

namespace trencadis::codegen {

// A tensor of a float dtype or of i32, which ends where a page without access begins: a kernel that
// reads or writes past it crashes. Aligned to its elements, or to 64 bytes if its size is a
// multiple.
class TestTensor {
 public:
  TestTensor(DType dtype, int64_t elements);
  void* data() { return data_start(); }
  double Get(int64_t i) const;
  // Rounds to the dtype.
  void Set(int64_t i, double value);
  int64_t elements() const { return elements_; }
  bool SameBytes(const TestTensor& other) const;

 private:
  struct Unmap {
    int64_t bytes;
    void operator()(char* mapping) const;
  };
  char* data_start() const { return mapping_.get() + offset_; }

  DType dtype_;
  int64_t elements_;
  std::unique_ptr<char, Unmap> mapping_;
  int64_t offset_ = 0;  // of the first element in the mapping
};

// Everything that the two ops read and write.
struct AttentionProblem {
  // Random q, k, v, dout; segments and offset 0; results NaN. One per call of the op.
  explicit AttentionProblem(const AttentionSpec& spec);

  AttentionSpec spec;
  TestTensor q, k, v, q_segments, kv_segments, offset, out, lse, dout, dq, dk, dv;
};

// A compiled and loaded kernel.
class AttentionRunner {
 public:
  static absl::StatusOr<AttentionRunner> Create(const AttentionSpec& spec, const Target& target);
  const KernelCode& code() const { return code_; }
  // Forward or backward, as the spec says, on `threads` threads.
  void Run(AttentionProblem& problem, int threads);

 private:
  AttentionRunner(KernelCode code, std::unique_ptr<LoadedKernels> kernels, int64_t threads);

  KernelCode code_;
  std::unique_ptr<LoadedKernels> kernels_;
  TestTensor scratch_;
  TestTensor shared_scratch_;
};

// The op by its definition, in double: fills out and lse, or dq, dk and dv from out and lse.
void ReferenceAttention(AttentionProblem& problem);
void ReferenceAttentionGrad(AttentionProblem& problem);

}  // namespace trencadis::codegen

#endif  // TRENCADIS_RUNTIME_CODEGEN_ATTENTION_TESTING_H_
