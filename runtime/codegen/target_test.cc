#include "runtime/codegen/target.h"

#include <gtest/gtest.h>

namespace trencadis::codegen {
namespace {

TEST(TargetTest, HostNamesEverythingThatKernelsDependOn) {
  const Target host = Target::Host();
  EXPECT_TRUE(host.Lanes() == 4 || host.Lanes() == 8 || host.Lanes() == 16);
  EXPECT_GE(host.threads, 1);
  for (const char* part : {"x86-64-v", "threads=", "llvm=", "onednn=", "glibc=", "compiler="}) {
    EXPECT_NE(host.ToString().find(part), std::string::npos) << part;
  }
  EXPECT_EQ(host, Target::Host());
}

TEST(TargetTest, LesserCpuHasFewerLanesAndAnotherName) {
  const Target v3 = Target::HostWithCpu("x86-64-v3").value();
  const Target v2 = Target::HostWithCpu("x86-64-v2").value();
  EXPECT_EQ(v3.Lanes(), 8);
  EXPECT_EQ(v2.Lanes(), 4);
  EXPECT_FALSE(v3.HasFeature("avx512bf16"));
  EXPECT_NE(v2.ToString(), v3.ToString());
}

TEST(TargetTest, RefusesUnknownCpu) {
  EXPECT_EQ(Target::HostWithCpu("pentium").status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace trencadis::codegen
