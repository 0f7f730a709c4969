// The host's heap during training: nothing grows from step to step, and running a recipe allocates
// next to nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <vector>

#include "runtime/core/literal.h"
#include "runtime/device/executable.h"
#include "runtime/recipe/recipe.h"
#include "training/testing.h"

namespace {

// The bounds, as measured and rounded up.
constexpr int64_t kAllocationsPerNode = 30;        // of the graph, host and device together
constexpr int64_t kAllocationsPerRecipeStep = 10;  // most are oneDNN's, in products

std::atomic<int64_t> allocations{0};
std::atomic<int64_t> live{0};

void* Count(void* pointer) {
  if (pointer == nullptr) throw std::bad_alloc();
  ++allocations;
  ++live;
  return pointer;
}

void Uncount(void* pointer) {
  if (pointer != nullptr) --live;
  std::free(pointer);
}

void* Aligned(std::size_t size, std::align_val_t alignment) {
  const auto align = static_cast<std::size_t>(alignment);
  return Count(std::aligned_alloc(align, (size + align - 1) / align * align));
}

}  // namespace

void* operator new(std::size_t size) { return Count(std::malloc(size == 0 ? 1 : size)); }
void* operator new[](std::size_t size) { return operator new(size); }
void* operator new(std::size_t size, std::align_val_t align) { return Aligned(size, align); }
void* operator new[](std::size_t size, std::align_val_t align) { return Aligned(size, align); }
void operator delete(void* pointer) noexcept { Uncount(pointer); }
void operator delete[](void* pointer) noexcept { Uncount(pointer); }
void operator delete(void* pointer, std::size_t) noexcept { Uncount(pointer); }
void operator delete[](void* pointer, std::size_t) noexcept { Uncount(pointer); }
void operator delete(void* pointer, std::align_val_t) noexcept { Uncount(pointer); }
void operator delete[](void* pointer, std::align_val_t) noexcept { Uncount(pointer); }
void operator delete(void* pointer, std::size_t, std::align_val_t) noexcept { Uncount(pointer); }
void operator delete[](void* pointer, std::size_t, std::align_val_t) noexcept { Uncount(pointer); }

namespace trencadis::memory {
namespace {

using training::TinyTraining;
using training::TinyTrainingOptions;

// One step, run to its end, without what the test's provider remembers.
void RunStep(TinyTraining& run) {
  run.Step();
  ASSERT_TRUE(run.machine().context.Synchronize().ok());
  run.machine().recipes.ForgetRequests();
}

TEST(HeapTest, AStepLeavesNothingBehindAndEachAllocatesAsMuch) {
  TinyTraining run({});
  for (int warm_up = 0; warm_up < 3; ++warm_up) RunStep(run);
  const int64_t live_before = live;
  std::vector<int64_t> per_step;
  for (int i = 0; i < 10; ++i) {
    const int64_t before = allocations;
    RunStep(run);
    per_step.push_back(allocations - before);
  }
  // A queue between two threads may hold a block more or less.
  EXPECT_NEAR(live, live_before, 4);
  const auto [least, most] = std::minmax_element(per_step.begin(), per_step.end());
  EXPECT_LE(*most - *least, 16);
  // Recording and looking up the graph: nodes with their operands, types and attributes.
  run.Step();
  const int64_t nodes = run.machine().recipes.requests().back().graph.num_nodes();
  RecordProperty("allocations_per_node", static_cast<int>(*most / nodes));
  EXPECT_LE(*most, kAllocationsPerNode * nodes);
}

TEST(HeapTest, RunningARecipeHardlyAllocates) {
  TinyTraining run({});
  RunStep(run);
  const Executable& executable = run.machine().recipes.last();
  const recipe::RecipeProto& recipe = executable.recipe();
  ASSERT_EQ(recipe.prepared_size(), 0);
  std::vector<Literal> memory;
  Bindings bindings;
  const auto bind = [&memory](const auto& types, std::vector<std::byte*>& addresses) {
    for (const recipe::TensorTypeProto& type : types) {
      memory.emplace_back(*recipe::FromProto(type));
      addresses.push_back(memory.back().bytes().data());
    }
  };
  bind(recipe.inputs(), bindings.inputs);
  bind(recipe.outputs(), bindings.outputs);
  memory.emplace_back(
      TensorType{DType::kU8, Shape{static_cast<int64_t>(recipe.arena_bytes()) + 64}});
  const auto arena = reinterpret_cast<uintptr_t>(memory.back().bytes().data());
  bindings.arena = reinterpret_cast<std::byte*>((arena + 63) / 64 * 64);
  ASSERT_TRUE(executable.Run(bindings).ok());
  const int64_t before = allocations;
  ASSERT_TRUE(executable.Run(bindings).ok());
  const int64_t made = allocations - before;
  RecordProperty("allocations", static_cast<int>(made));
  RecordProperty("steps", recipe.steps_size());
  EXPECT_LE(made, kAllocationsPerRecipeStep * recipe.steps_size());
}

}  // namespace
}  // namespace trencadis::memory
