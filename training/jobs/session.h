// Session: a device with its recipes and a context on it, as the runtime options ask for.
#ifndef TRENCADIS_TRAINING_JOBS_SESSION_H_
#define TRENCADIS_TRAINING_JOBS_SESSION_H_

#include <memory>

#include "absl/status/statusor.h"
#include "api/schema/runtime.pb.h"
#include "compiler_cache/memory_provider.h"
#include "runtime/device/device.h"
#include "runtime/lazy/context.h"
#include "training/results.h"

namespace trencadis::training {

// The device that the options ask for.
absl::StatusOr<DeviceSpec> DeviceSpecOf(const schema::DeviceOptions& device);

class Session {
 public:
  // `metering`: a device that only counts, see device.h.
  // Its memory has no limit: what a job needs is known even if it does not fit.
  static absl::StatusOr<std::unique_ptr<Session>> Create(const schema::RuntimeOptions& runtime,
                                                         const schema::DeviceOptions& device,
                                                         bool metering);

  Device& device() { return device_; }
  lazy::Context& context() { return context_; }
  compiler_cache::MemoryProvider& recipes() { return recipes_; }
  // What products and the residual stream compute in.
  DType compute() const { return compute_; }

 private:
  Session(DeviceSpec spec, DeviceOptions device_options, lazy::ContextOptions context_options,
          DType compute);

  DType compute_;
  compiler_cache::MemoryProvider recipes_;
  Device device_;
  lazy::Context context_;
};

}  // namespace trencadis::training

#endif  // TRENCADIS_TRAINING_JOBS_SESSION_H_
