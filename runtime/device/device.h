// Device: memory under a limit, a stream, and recipes launched on it.
//
// A metering device does the same accounting and nothing else: it has no bytes and runs no code,
// and host reads give zeros. A plan is the same program run on it.
//
// One thread issues work (Allocate, FromHost, Launch); stats and status may be read from any
// thread.
#ifndef TRENCADIS_RUNTIME_DEVICE_DEVICE_H_
#define TRENCADIS_RUNTIME_DEVICE_DEVICE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/codegen/target.h"
#include "runtime/core/literal.h"
#include "runtime/device/buffer.h"
#include "runtime/device/device_spec.h"
#include "runtime/device/executable.h"
#include "runtime/device/memory_stats.h"
#include "runtime/device/stream.h"

namespace trencadis {

struct DeviceOptions {
  bool metering = false;
  // Fill each launch's workspace with NaN bytes first, so that a read of what no step wrote shows.
  bool poison_workspace = false;
};

class Device {
 public:
  Device(DeviceSpec spec, codegen::Target target, DeviceOptions options = {});
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const DeviceSpec& spec() const { return spec_; }
  const codegen::Target& target() const { return target_; }
  bool metering() const { return options_.metering; }

  // Uninitialised. ResourceExhausted when the device's limit would be exceeded.
  absl::StatusOr<BufferPtr> Allocate(int64_t bytes);
  absl::StatusOr<BufferPtr> FromHost(const Literal& literal);
  // Waits for all issued work, then copies. The buffer must hold type.byte_size() bytes.
  absl::StatusOr<Literal> ToHost(const Buffer& buffer, const TensorType& type);

  // Issues `executable` on `arguments`. Outputs that take over or pass through an argument share
  // its buffer; the others are allocated. A donated argument must not be used afterwards.
  absl::StatusOr<std::vector<BufferPtr>> Launch(std::shared_ptr<const Executable> executable,
                                                absl::Span<const BufferPtr> arguments);

  absl::Status Synchronize() { return stream_.Synchronize(); }

  MemoryStats memory_stats() const { return accountant_->stats(); }
  void ResetPeakMemory() { accountant_->ResetPeak(); }
  // Bytes of the workspace that have been written since it was poisoned; needs poison_workspace.
  absl::StatusOr<int64_t> WorkspaceHighWaterMark();
  // Launches and their floating-point work since the device was made.
  int64_t num_launches() const { return num_launches_; }
  double flops() const { return flops_; }

 private:
  absl::StatusOr<StoragePtr> AcquireStorage(int64_t bytes);
  absl::Status PrepareWorkspace(int64_t bytes);
  absl::StatusOr<std::vector<StoragePtr>> PackedCopies(const Executable& executable,
                                                       absl::Span<const BufferPtr> arguments);
  absl::StatusOr<std::vector<BufferPtr>> OutputBuffers(const Executable& executable,
                                                       absl::Span<const BufferPtr> arguments);

  const DeviceSpec spec_;
  const codegen::Target target_;
  const DeviceOptions options_;
  // Shared with buffers, which may outlive the device.
  std::shared_ptr<MemoryAccountant> accountant_;
  std::shared_ptr<MemoryPool> pool_;
  StoragePtr workspace_;
  int64_t workspace_bytes_ = 0;
  int64_t num_launches_ = 0;
  double flops_ = 0;
  Stream stream_;  // last: its thread ends before what it uses
};

}  // namespace trencadis

#endif  // TRENCADIS_RUNTIME_DEVICE_DEVICE_H_
