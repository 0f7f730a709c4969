// The process's resident memory: what it has without a large model, and the device's planned peak.
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <string>

#include "training/testing.h"

namespace trencadis::memory {
namespace {

using training::TinyTraining;
using training::TinyTrainingOptions;

// Beside the device's memory: a batch on the host, code of this model's kernels, records of its
// graph.
constexpr double kHostBytes = 24 << 20;
constexpr double kShare = 0.05;

// The most this process has had in memory so far.
double ResidentPeakBytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    double kilobytes = 0;
    if (word == "VmHWM:" && status >> kilobytes) return kilobytes * 1024;
  }
  ADD_FAILURE() << "/proc/self/status has no VmHWM";
  return 0;
}

TEST(ResidentTest, TheProcessGrowsByThePlannedPeak) {
  TinyTrainingOptions options;
  {
    // The libraries, the compiler and their one-time memory.
    TinyTraining small(options);
    for (int step = 0; step < 2; ++step) lazy::Values(small.Step());
  }
  const double before = ResidentPeakBytes();
  options.config.vocab_size = 32000;
  options.config.hidden_size = 384;
  options.config.intermediate_size = 1024;
  options.config.head_dim = 96;
  options.tokens = 64;
  options.device.metering = true;
  TinyTraining plan(options);
  for (int step = 0; step < 3; ++step) plan.Step();
  const auto planned = static_cast<double>(plan.machine().device.memory_stats().max_in_use_bytes);
  options.device.metering = false;
  TinyTraining run(options);
  for (int step = 0; step < 3; ++step) lazy::Values(run.Step());
  const double grown = ResidentPeakBytes() - before;
  RecordProperty("planned_mib", static_cast<int>(planned / (1 << 20)));
  RecordProperty("grown_mib", static_cast<int>(grown / (1 << 20)));
  EXPECT_GT(planned, 10 * kHostBytes);
  EXPECT_LT(grown, planned * (1 + kShare) + kHostBytes);
  EXPECT_GT(grown, planned * (1 - kShare));
}

}  // namespace
}  // namespace trencadis::memory
