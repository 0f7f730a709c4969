#include "runtime/device/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/recipe/recipe.h"

namespace trencadis {
namespace {

constexpr int64_t kTensorBytes = 4096;
const TensorType kTensor{DType::kF32, Shape{kTensorBytes / 4}};

// Runs a function in place of compiled code.
class FakeExecutable : public Executable {
 public:
  using Work = std::function<absl::Status(const Bindings&)>;
  FakeExecutable(recipe::RecipeProto recipe, Work work)
      : Executable(std::move(recipe)), work_(std::move(work)) {}

  absl::Status Run(const Bindings& bindings) const override { return work_(bindings); }
  absl::Status Prepare(int index, const std::byte* argument, std::byte* packed) const override {
    ++prepared_;
    std::memcpy(packed, argument, kTensorBytes);
    return absl::OkStatus();
  }
  int prepared() const { return prepared_; }

 private:
  Work work_;
  mutable int prepared_ = 0;
};

recipe::RecipeProto Signature(int inputs, int outputs, int64_t arena_bytes = 0) {
  recipe::RecipeProto recipe;
  for (int i = 0; i < inputs; ++i) *recipe.add_inputs() = recipe::ToProto(kTensor);
  for (int i = 0; i < outputs; ++i) *recipe.add_outputs() = recipe::ToProto(kTensor);
  recipe.set_arena_bytes(arena_bytes);
  recipe.set_flops(10);
  return recipe;
}

absl::Status CopyThrough(const Bindings& bindings) {
  std::memmove(bindings.outputs[0], bindings.inputs[0], kTensorBytes);
  return absl::OkStatus();
}

std::shared_ptr<const FakeExecutable> Fake(recipe::RecipeProto recipe,
                                           FakeExecutable::Work work = CopyThrough) {
  return std::make_shared<FakeExecutable>(std::move(recipe), std::move(work));
}

Literal Filled(float value) {
  Literal literal(kTensor);
  std::fill(literal.data<float>().begin(), literal.data<float>().end(), value);
  return literal;
}

std::unique_ptr<Device> NewDevice(int64_t memory_bytes, DeviceOptions options = {}) {
  return std::make_unique<Device>(DeviceSpec{"test", memory_bytes, 0, 0}, codegen::Target::Host(),
                                  options);
}

TEST(DeviceTest, CopiesToAndFro) {
  const auto device = NewDevice(1 << 20);
  const Literal literal = Literal::FromVector<int32_t>(Shape{3}, {1, -2, 3});
  const BufferPtr buffer = *device->FromHost(literal);
  EXPECT_EQ(*device->ToHost(*buffer, literal.type()), literal);
  EXPECT_EQ(device->memory_stats().persistent_bytes, 12);
}

TEST(DeviceTest, TheLimitIsEnforced) {
  const auto device = NewDevice(2 * kTensorBytes);
  BufferPtr first = *device->Allocate(kTensorBytes);
  const BufferPtr second = *device->Allocate(kTensorBytes);
  const absl::Status status = device->Allocate(1).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("out of device memory"));
  first = nullptr;
  EXPECT_TRUE(device->Allocate(1).ok());
  EXPECT_EQ(device->memory_stats().max_in_use_bytes, 2 * kTensorBytes);
}

TEST(DeviceTest, ALaunchThatDoesNotFitLeavesNothingBehind) {
  const auto device = NewDevice(2 * kTensorBytes);
  const BufferPtr x = *device->FromHost(Filled(1));
  const auto launched = device->Launch(Fake(Signature(1, 2)), {x});
  EXPECT_EQ(launched.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(device->memory_stats().persistent_bytes, kTensorBytes);
  EXPECT_EQ(device->num_launches(), 0);
}

TEST(DeviceTest, BytesOutliveTheirAccountWhileWorkNeedsThem) {
  const auto device = NewDevice(1 << 20);
  std::promise<void> proceed;
  const auto slow = Fake(Signature(1, 1), [done = proceed.get_future().share()](const Bindings& b) {
    done.wait();
    return CopyThrough(b);
  });
  BufferPtr x = *device->FromHost(Filled(7));
  const std::byte* bytes_of_x = x->storage()->data();
  const BufferPtr y = (*device->Launch(slow, {x}))[0];
  EXPECT_EQ(device->memory_stats().persistent_bytes, 2 * kTensorBytes);
  x = nullptr;
  EXPECT_EQ(device->memory_stats().persistent_bytes, kTensorBytes);
  const BufferPtr other = *device->FromHost(Filled(8));
  EXPECT_NE(other->storage()->data(), bytes_of_x);
  proceed.set_value();
  EXPECT_EQ(*device->ToHost(*y, kTensor), Filled(7));
}

TEST(DeviceTest, OutputsMayTakeOverOrPassThroughAnArgument) {
  const auto device = NewDevice(1 << 20);
  recipe::RecipeProto recipe = Signature(2, 2);
  recipe.add_donations()->set_output(1);  // of input 0
  recipe::Donation& same = *recipe.add_passed_through();
  same.set_input(1);
  same.set_output(0);
  const BufferPtr x = *device->FromHost(Filled(1));
  const BufferPtr y = *device->FromHost(Filled(2));
  const auto outputs = device->Launch(Fake(recipe,
                                           [](const Bindings& b) -> absl::Status {
                                             EXPECT_EQ(b.outputs[1], b.inputs[0]);
                                             EXPECT_EQ(b.outputs[0], b.inputs[1]);
                                             return absl::OkStatus();
                                           }),
                                      {x, y});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_EQ((*outputs)[1], x);
  EXPECT_EQ((*outputs)[0], y);
  EXPECT_TRUE(device->Synchronize().ok());
  EXPECT_EQ(device->memory_stats().num_allocs, 2);
}

TEST(DeviceTest, AFailedLaunchPoisonsTheDevice) {
  const auto device = NewDevice(1 << 20);
  const BufferPtr x = *device->FromHost(Filled(1));
  const auto failing = Fake(Signature(1, 1), [](const Bindings&) -> absl::Status {
    return absl::OutOfRangeError("an index is 9");
  });
  ASSERT_TRUE(device->Launch(failing, {x}).ok());
  EXPECT_EQ(device->Synchronize().message(), "an index is 9");
  EXPECT_EQ(device->Launch(Fake(Signature(1, 1)), {x}).status().message(), "an index is 9");
  EXPECT_EQ(device->ToHost(*x, kTensor).status().message(), "an index is 9");
}

TEST(DeviceTest, PackedCopiesAreMadeOncePerBufferAndGoWithIt) {
  const auto device = NewDevice(1 << 20);
  recipe::RecipeProto recipe = Signature(1, 1);
  recipe::Prepared& prepared = *recipe.add_prepared();
  prepared.mutable_matmul()->set_k(3);
  prepared.set_bytes(kTensorBytes);
  const auto executable = Fake(recipe, [](const Bindings& b) {
    std::memcpy(b.outputs[0], b.prepared[0], kTensorBytes);
    return absl::OkStatus();
  });
  BufferPtr x = *device->FromHost(Filled(5));
  ASSERT_TRUE(device->Launch(executable, {x}).ok());
  const BufferPtr y = (*device->Launch(executable, {x}))[0];
  EXPECT_EQ(*device->ToHost(*y, kTensor), Filled(5));
  EXPECT_EQ(executable->prepared(), 1);
  EXPECT_EQ(device->memory_stats().persistent_bytes, 3 * kTensorBytes);
  // Another layout is another copy; another recipe with the same one shares it.
  recipe.mutable_prepared(0)->mutable_matmul()->set_k(4);
  const auto other = Fake(recipe);
  ASSERT_TRUE(device->Launch(other, {x}).ok());
  EXPECT_EQ(other->prepared(), 1);
  x = nullptr;
  EXPECT_EQ(device->memory_stats().persistent_bytes, kTensorBytes);
}

TEST(DeviceTest, TheWorkspaceGrowsToTheLargestRecipe) {
  const auto device = NewDevice(1 << 20);
  const BufferPtr x = *device->FromHost(Filled(1));
  for (const int64_t arena_bytes : {1000, 70000, 3000}) {
    const auto executable = Fake(Signature(1, 1, arena_bytes), [=](const Bindings& b) {
      std::memset(b.arena, 1, arena_bytes);
      return CopyThrough(b);
    });
    ASSERT_TRUE(device->Launch(executable, {x}).ok());
  }
  EXPECT_TRUE(device->Synchronize().ok());
  EXPECT_EQ(device->memory_stats().workspace_bytes, 70000);
  EXPECT_EQ(device->Launch(Fake(Signature(1, 1, 1 << 21)), {x}).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(DeviceTest, PoisonShowsHowFarTheWorkspaceIsUsed) {
  const auto device = NewDevice(1 << 20, {.poison_workspace = true});
  const BufferPtr x = *device->FromHost(Filled(1));
  for (const int64_t used_bytes : {777, 0, 1000}) {
    const auto executable = Fake(Signature(1, 1, 1000), [=](const Bindings& b) {
      EXPECT_TRUE(std::all_of(b.arena, b.arena + 1000,
                              [](std::byte byte) { return byte == std::byte{0xff}; }));
      std::memset(b.arena, 1, used_bytes);
      return absl::OkStatus();
    });
    ASSERT_TRUE(device->Launch(executable, {x}).ok());
    EXPECT_EQ(*device->WorkspaceHighWaterMark(), used_bytes);
  }
  EXPECT_EQ(NewDevice(1)->WorkspaceHighWaterMark().status().code(),
            absl::StatusCode::kFailedPrecondition);
}

// Every way of using memory; returns the statistics after each step.
std::vector<MemoryStats> UseMemory(Device& device, const FakeExecutable::Work& work) {
  std::vector<MemoryStats> seen;
  const auto look = [&] { seen.push_back(device.memory_stats()); };
  recipe::RecipeProto recipe = Signature(2, 2, 5000);
  recipe.add_donations();  // output 0 of input 0
  recipe::Prepared& prepared = *recipe.add_prepared();
  prepared.set_input(1);
  prepared.set_bytes(kTensorBytes);
  BufferPtr x = *device.FromHost(Filled(1));
  BufferPtr weight = *device.FromHost(Filled(2));
  look();
  for (int step = 0; step < 3; ++step) {
    const auto outputs = device.Launch(Fake(recipe, work), {x, weight});
    look();
    x = (*outputs)[1];
    look();
  }
  weight = nullptr;
  look();
  EXPECT_TRUE(device.Synchronize().ok());
  return seen;
}

TEST(DeviceTest, AMeteringDeviceCountsTheSameAndDoesNothing) {
  const auto device = NewDevice(1 << 20);
  const auto metering = NewDevice(1 << 20, {.metering = true});
  const std::vector<MemoryStats> real = UseMemory(*device, CopyThrough);
  const std::vector<MemoryStats> counted =
      UseMemory(*metering, [](const Bindings&) -> absl::Status {
        ADD_FAILURE() << "a metering device ran code";
        return absl::OkStatus();
      });
  ASSERT_EQ(real.size(), counted.size());
  for (size_t i = 0; i < real.size(); ++i) {
    EXPECT_EQ(real[i].HpuKeys(), counted[i].HpuKeys()) << "at " << i;
    EXPECT_EQ(real[i].max_persistent_bytes, counted[i].max_persistent_bytes) << "at " << i;
    EXPECT_EQ(real[i].workspace_bytes, counted[i].workspace_bytes) << "at " << i;
  }
  EXPECT_EQ(metering->num_launches(), 3);
  EXPECT_EQ(metering->flops(), device->flops());
  const BufferPtr x = *metering->FromHost(Filled(1));
  EXPECT_EQ(x->storage(), nullptr);
  EXPECT_EQ(*metering->ToHost(*x, kTensor), Filled(0));
}

TEST(DeviceTest, BuffersMayOutliveTheirDevice) {
  auto device = NewDevice(1 << 20);
  const BufferPtr x = *device->FromHost(Filled(1));
  device = nullptr;
  EXPECT_EQ(x->bytes(), kTensorBytes);
  EXPECT_EQ(reinterpret_cast<const float*>(x->storage()->data())[0], 1.0f);
}

}  // namespace
}  // namespace trencadis
