#include "runtime/device/device.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"

namespace trencadis {
namespace {

constexpr int kRunAhead = 2;
// f32 and bf16 both read this byte pattern as NaN.
constexpr int kPoisonByte = 0xff;

// Idle memory may fill what the peak has shown to be needed, never more.
void LimitIdleMemory(const MemoryAccountant& accountant, MemoryPool& pool) {
  const MemoryStats stats = accountant.stats();
  pool.SetIdleLimit(stats.max_in_use_bytes - stats.in_use_bytes);
}

}  // namespace

Device::Device(DeviceSpec spec, codegen::Target target, DeviceOptions options)
    : spec_(std::move(spec)),
      target_(std::move(target)),
      options_(options),
      accountant_(std::make_shared<MemoryAccountant>(spec_.memory_bytes)),
      pool_(std::make_shared<MemoryPool>()),
      stream_(kRunAhead) {}

Device::~Device() = default;

absl::StatusOr<StoragePtr> Device::AcquireStorage(int64_t bytes) {
  if (options_.metering) return StoragePtr();
  TRENCADIS_ASSIGN_OR_RETURN(const MemoryPool::Block block, pool_->Acquire(bytes));
  LimitIdleMemory(*accountant_, *pool_);
  return std::make_shared<Storage>(pool_, block);
}

absl::StatusOr<BufferPtr> Device::Allocate(int64_t bytes) {
  TRENCADIS_RETURN_IF_ERROR(accountant_->Allocate(bytes));
  auto on_free = [accountant = accountant_, pool = pool_, bytes] {
    accountant->Free(bytes);
    LimitIdleMemory(*accountant, *pool);
  };
  absl::StatusOr<StoragePtr> storage = AcquireStorage(bytes);
  if (!storage.ok()) {
    on_free();
    return storage.status();
  }
  return std::make_shared<Buffer>(bytes, *std::move(storage), std::move(on_free));
}

absl::StatusOr<BufferPtr> Device::FromHost(const Literal& literal) {
  TRENCADIS_ASSIGN_OR_RETURN(BufferPtr buffer, Allocate(literal.type().byte_size()));
  if (buffer->storage() != nullptr) {
    std::memcpy(buffer->storage()->data(), literal.bytes().data(), literal.bytes().size());
  }
  return buffer;
}

absl::StatusOr<Literal> Device::ToHost(const Buffer& buffer, const TensorType& type) {
  TRENCADIS_CHECK(buffer.bytes() == type.byte_size());
  TRENCADIS_RETURN_IF_ERROR(stream_.Synchronize());
  Literal literal(type);
  if (buffer.storage() != nullptr) {
    std::memcpy(literal.bytes().data(), buffer.storage()->data(), literal.bytes().size());
  }
  return literal;
}

absl::Status Device::PrepareWorkspace(int64_t bytes) {
  if (bytes <= workspace_bytes_) return absl::OkStatus();
  TRENCADIS_RETURN_IF_ERROR(accountant_->GrowWorkspace(bytes));
  // The old one may be unmapped before the new one is mapped only if nothing uses it.
  TRENCADIS_RETURN_IF_ERROR(stream_.Synchronize());
  workspace_ = nullptr;
  workspace_bytes_ = 0;
  TRENCADIS_ASSIGN_OR_RETURN(workspace_, AcquireStorage(bytes));
  workspace_bytes_ = bytes;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<StoragePtr>> Device::PackedCopies(
    const Executable& executable, absl::Span<const BufferPtr> arguments) {
  const recipe::RecipeProto& recipe = executable.recipe();
  std::vector<StoragePtr> copies;
  for (int i = 0; i < recipe.prepared_size(); ++i) {
    const recipe::Prepared& prepared = recipe.prepared(i);
    const BufferPtr& argument = arguments[prepared.input()];
    BufferPtr& copy = argument->packed_copies()[prepared.matmul().SerializeAsString()];
    if (copy == nullptr) {
      TRENCADIS_ASSIGN_OR_RETURN(copy, Allocate(prepared.bytes()));
      if (!options_.metering) {
        stream_.Enqueue([&executable, i, source = argument->storage(), target = copy->storage()] {
          return executable.Prepare(i, source->data(), target->data());
        });
        // The executable is only borrowed here.
        TRENCADIS_RETURN_IF_ERROR(stream_.Synchronize());
      }
    }
    copies.push_back(copy->storage());
  }
  return copies;
}

absl::StatusOr<std::vector<BufferPtr>> Device::OutputBuffers(
    const Executable& executable, absl::Span<const BufferPtr> arguments) {
  const recipe::RecipeProto& recipe = executable.recipe();
  std::vector<BufferPtr> outputs(recipe.outputs_size());
  for (const recipe::Donation& donation : recipe.donations()) {
    outputs[donation.output()] = arguments[donation.input()];
  }
  for (const recipe::Donation& same : recipe.passed_through()) {
    outputs[same.output()] = arguments[same.input()];
  }
  for (int i = 0; i < recipe.outputs_size(); ++i) {
    if (outputs[i] != nullptr) continue;
    const recipe::TensorTypeProto& type = recipe.outputs(i);
    int64_t bytes = ByteSize(static_cast<DType>(type.dtype()));
    for (int64_t dim : type.dims()) bytes *= dim;
    TRENCADIS_ASSIGN_OR_RETURN(outputs[i], Allocate(bytes));
  }
  return outputs;
}

absl::StatusOr<std::vector<BufferPtr>> Device::Launch(std::shared_ptr<const Executable> executable,
                                                      absl::Span<const BufferPtr> arguments) {
  const recipe::RecipeProto& recipe = executable->recipe();
  TRENCADIS_CHECK(static_cast<int>(arguments.size()) == recipe.inputs_size());
  TRENCADIS_RETURN_IF_ERROR(stream_.status());
  TRENCADIS_RETURN_IF_ERROR(PrepareWorkspace(recipe.arena_bytes()));
  TRENCADIS_ASSIGN_OR_RETURN(std::vector<StoragePtr> packed, PackedCopies(*executable, arguments));
  TRENCADIS_ASSIGN_OR_RETURN(std::vector<BufferPtr> outputs, OutputBuffers(*executable, arguments));
  ++num_launches_;
  flops_ += recipe.flops();
  if (options_.metering) return outputs;

  // Holds storage, not buffers: the account follows the host's handles alone.
  std::vector<StoragePtr> held = std::move(packed);
  Bindings bindings;
  for (const StoragePtr& storage : held) bindings.prepared.push_back(storage->data());
  for (const BufferPtr& argument : arguments) {
    held.push_back(argument->storage());
    bindings.inputs.push_back(argument->storage()->data());
  }
  for (const BufferPtr& output : outputs) {
    held.push_back(output->storage());
    bindings.outputs.push_back(output->storage()->data());
  }
  held.push_back(workspace_);
  bindings.arena = workspace_ == nullptr ? nullptr : workspace_->data();
  const int64_t poison_bytes = options_.poison_workspace ? workspace_bytes_ : 0;
  stream_.Enqueue([executable = std::move(executable), bindings = std::move(bindings),
                   held = std::move(held), poison_bytes] {
    if (poison_bytes > 0) std::memset(bindings.arena, kPoisonByte, poison_bytes);
    return executable->Run(bindings);
  });
  return outputs;
}

absl::StatusOr<int64_t> Device::WorkspaceHighWaterMark() {
  if (!options_.poison_workspace) {
    return absl::FailedPreconditionError("the workspace's high-water mark needs poison_workspace");
  }
  TRENCADIS_RETURN_IF_ERROR(stream_.Synchronize());
  int64_t mark = workspace_bytes_;
  while (mark > 0 && workspace_->data()[mark - 1] == std::byte{kPoisonByte}) --mark;
  return mark;
}

}  // namespace trencadis
