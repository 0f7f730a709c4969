#include "runtime/codegen/loaded_kernels.h"

#include <gtest/gtest.h>

#include <random>

#include "runtime/codegen/fusion_testing.h"

namespace trencadis::codegen {
namespace {

// Calls two libraries' functions and has constants of its own.
KernelCode SomeKernel(const std::string& symbol) {
  const ir::Graph body = testing::ParseBody(R"(graph {
    %0 = input() : f32[100]
    %1 = exp(%0)
    %2 = rem(%1, %0)
    %3 = iota(){axis=0, dtype=f32, shape=[100]}
    %4 = add(%2, %3)
    return %4
  })");
  return CompileFusion(body, Target::Host(), symbol).value();
}

TEST(LoadedKernelsTest, LoadsSeveralObjectsTogether) {
  const KernelCode a = SomeKernel("a");
  const KernelCode b = SomeKernel("b");
  const auto loaded = LoadedKernels::Load({a.object, b.object});
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_NE((*loaded)->Find("a").value(), (*loaded)->Find("b").value());
  EXPECT_EQ((*loaded)->Find("c").status().code(), absl::StatusCode::kNotFound);
  EXPECT_GE((*loaded)->mapped_bytes(), 8192);
}

TEST(LoadedKernelsTest, LoadsNothing) {
  EXPECT_TRUE(LoadedKernels::Load({}).ok());
  EXPECT_TRUE(LoadedKernels::Load({absl::string_view()}).ok());
}

TEST(LoadedKernelsTest, RefusesTwoKernelsOfOneName) {
  const KernelCode kernel = SomeKernel("a");
  EXPECT_EQ(LoadedKernels::Load({kernel.object, kernel.object}).status().code(),
            absl::StatusCode::kAlreadyExists);
}

TEST(LoadedKernelsTest, RefusesEveryTruncation) {
  const std::string object = SomeKernel("a").object;
  const absl::string_view whole = object;
  for (size_t size = 1; size < whole.size(); ++size) {
    EXPECT_FALSE(LoadedKernels::Load({whole.substr(0, size)}).ok()) << size;
  }
}

// Damage may go unnoticed (a changed instruction), but never crashes the loader.
TEST(LoadedKernelsTest, SurvivesDamagedBytes) {
  const std::string object = SomeKernel("a").object;
  std::mt19937 random(1);
  int refused = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    std::string damaged = object;
    for (int i = 0; i < 3; ++i) damaged[random() % damaged.size()] = static_cast<char>(random());
    refused += !LoadedKernels::Load({damaged}).ok();
  }
  EXPECT_GT(refused, 0);
}

TEST(LoadedKernelsTest, NamesAFunctionThatNoLibraryHas) {
  std::string object = SomeKernel("a").object;
  const size_t name = object.find("fmodf");
  ASSERT_NE(name, std::string::npos);
  object.replace(name, 5, "fmadf");
  const absl::Status status = LoadedKernels::Load({object}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_NE(status.message().find("fmadf"), std::string::npos);
}

}  // namespace
}  // namespace trencadis::codegen
