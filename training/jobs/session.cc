#include "training/jobs/session.h"

#include <limits>
#include <utility>

#include "runtime/base/env.h"
#include "runtime/base/logging.h"
#include "runtime/base/status.h"
#include "runtime/codegen/matmul.h"

namespace trencadis::training {
namespace {

// The lazy mode that flag and environment ask for, and after how many ops a step is marked.
lazy::ContextOptions ContextOptionsOf(const schema::RuntimeOptions& runtime) {
  lazy::ContextOptions options;
  const bool lazy_mode = runtime.use_lazy_mode() && EnvBool("PT_HPU_LAZY_MODE", true);
  options.max_compound_ops = lazy_mode ? EnvInt("PT_HPU_MAX_COMPOUND_OP_SIZE", 0) : 1;
  return options;
}

}  // namespace

absl::StatusOr<DeviceSpec> DeviceSpecOf(const schema::DeviceOptions& device) {
  if (!device.has_device_memory_gb()) return FindDeviceSpec(device.device_profile());
  return DeviceSpecWithMemory(device.device_profile(), device.device_memory_gb());
}

Session::Session(DeviceSpec spec, DeviceOptions device_options,
                 lazy::ContextOptions context_options, DType compute)
    : compute_(compute),
      device_(std::move(spec), codegen::Target::Host(), device_options),
      context_(&device_, &recipes_, std::move(context_options)) {}

absl::StatusOr<std::unique_ptr<Session>> Session::Create(const schema::RuntimeOptions& runtime,
                                                         const schema::DeviceOptions& device,
                                                         bool metering) {
  TRENCADIS_ASSIGN_OR_RETURN(DeviceSpec spec, DeviceSpecOf(device));
  if (metering) spec.memory_bytes = std::numeric_limits<int64_t>::max();
  const DType compute = runtime.bf16() ? DType::kBF16 : DType::kF32;
  std::unique_ptr<Session> session(
      new Session(std::move(spec), {.metering = metering}, ContextOptionsOf(runtime), compute));
  if (compute == DType::kBF16 && !codegen::MatMul::SupportsBF16(session->device_.target())) {
    WarnOnce("bf16", "this CPU has no AVX-512 BF16: bf16 products are computed in f32");
  }
  return session;
}

}  // namespace trencadis::training
