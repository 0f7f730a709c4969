#include "compiler_cache/memory_provider.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "runtime/base/metrics.h"
#include "runtime/base/scoped_env.h"
#include "runtime/ops/registry.h"

namespace trencadis::compiler_cache {
namespace {

// reduce_sum(op(x)) over axis 0.
ir::Graph GraphOf(absl::string_view op, int64_t width = 8, bool keep_dims = false) {
  ir::Graph graph;
  const ir::Value x = graph.AddInput({DType::kF32, {4, width}});
  const int32_t y = *graph.AddNode(ops::FindOp(op), {x}, {}, "label");
  const int32_t sum = *graph.AddNode(ops::FindOp("reduce_sum"), {{y, 0}},
                                     {{"axes", std::vector<int64_t>{0}}, {"keep_dims", keep_dims}});
  graph.SetOutputs({{sum, 0}});
  return graph;
}

// A request that owns what it refers to.
struct OwnedRequest {
  ir::Graph graph = GraphOf("exp");
  compiler::CompileOptions options = {.arguments = {{}}};
  codegen::Target target = codegen::Target::Host();

  lazy::RecipeRequest View() const { return {graph, options, target}; }
};

TEST(MemoryProviderTest, EqualRequestsShareAnExecutable) {
  MemoryProvider provider;
  OwnedRequest request;
  const auto first = provider.GetOrCompile(request.View());
  ASSERT_TRUE(first.ok()) << first.status();
  OwnedRequest again;
  again.options.name = "another region";
  EXPECT_EQ(*provider.GetOrCompile(again.View()), *first);
  EXPECT_EQ(provider.stats().hits, 1);
  EXPECT_EQ(provider.stats().misses, 1);
  EXPECT_GT(provider.stats().compile_seconds, 0);
}

TEST(MemoryProviderTest, WhateverDecidesTheResultIsPartOfTheKey) {
  const std::vector<std::function<void(OwnedRequest&)>> changes = {
      [](OwnedRequest& r) { r.graph = GraphOf("tanh"); },
      [](OwnedRequest& r) { r.graph = GraphOf("exp", 9); },
      [](OwnedRequest& r) { r.graph = GraphOf("exp", 8, true); },
      [](OwnedRequest& r) { r.options.arguments[0].donated = true; },
      [](OwnedRequest& r) { r.options.arguments[0].frozen = true; },
      [](OwnedRequest& r) { r.options.disabled_passes = {"cse"}; },
      [](OwnedRequest& r) { r.options.optimize = false; },
  };
  MemoryProvider provider;
  const OwnedRequest base;
  ASSERT_TRUE(provider.GetOrCompile(base.View()).ok());
  for (size_t i = 0; i < changes.size(); ++i) {
    OwnedRequest changed;
    changes[i](changed);
    ASSERT_TRUE(provider.GetOrCompile(changed.View()).ok()) << i;
    EXPECT_EQ(provider.stats().misses, static_cast<int64_t>(i) + 2) << i;
  }
  EXPECT_EQ(provider.stats().hits, 0);
}

TEST(MemoryProviderTest, TheTargetIsPartOfTheKey) {
  MemoryProvider provider;
  OwnedRequest request;
  const auto host = provider.GetOrCompile(request.View());
  ASSERT_TRUE(host.ok()) << host.status();
  ++request.target.threads;
  const auto other = provider.GetOrCompile(request.View());
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_NE(*host, *other);
  EXPECT_EQ(provider.stats().misses, 2);
}

TEST(MemoryProviderTest, ManyThreadsCompileOnce) {
  MemoryProvider provider;
  const OwnedRequest request;
  std::vector<std::shared_ptr<const Executable>> found(8);
  std::vector<std::thread> threads;
  for (auto& executable : found) {
    threads.emplace_back([&] {
      auto result = provider.GetOrCompile(request.View());
      if (result.ok()) executable = *result;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_NE(found[0], nullptr);
  for (const auto& executable : found) EXPECT_EQ(executable, found[0]);
  EXPECT_EQ(provider.stats().misses, 1);
  EXPECT_EQ(provider.stats().hits, 7);
}

TEST(MemoryProviderTest, AFailureIsNotKept) {
  MemoryProvider provider;
  const OwnedRequest request;
  {
    const ScopedEnv env("HPU_EXEC", "nonsense");
    EXPECT_EQ(provider.GetOrCompile(request.View()).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
  EXPECT_TRUE(provider.GetOrCompile(request.View()).ok());
  EXPECT_EQ(provider.stats().misses, 2);
}

TEST(MemoryProviderTest, CountsUnderTheHpusNames) {
  const MetricsSnapshot before = MetricsRegistry::Global().Snapshot();
  MemoryProvider provider;
  const OwnedRequest request;
  ASSERT_TRUE(provider.GetOrCompile(request.View()).ok());
  ASSERT_TRUE(provider.GetOrCompile(request.View()).ok());
  MetricsSnapshot after = Difference(before, MetricsRegistry::Global().Snapshot());
  EXPECT_EQ(after["recipe_cache"]["TotalHit"], 1);
  EXPECT_EQ(after["recipe_cache"]["TotalMiss"], 1);
  EXPECT_EQ(after["graph_compilation"]["TotalNumber"], 1);
}

}  // namespace
}  // namespace trencadis::compiler_cache
