#include "runtime/device/device_spec.h"

#include <unistd.h>

#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"

namespace trencadis {
namespace {

constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
// Of a Gaudi 2's 96 GB the card reports 94.62; the other cards are taken to reserve the same share.
constexpr double kReportedShare = 94.62 / 96.0;

int64_t Reported(double gigabytes) {
  return static_cast<int64_t>(std::llround(gigabytes * kReportedShare * kGiB));
}

int64_t HostMemoryBytes() {
  return static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
}

}  // namespace

absl::StatusOr<DeviceSpec> FindDeviceSpec(absl::string_view name) {
  if (name == "cpu") return DeviceSpec{"cpu", HostMemoryBytes(), 0, 0};
  if (name == "gaudi") return DeviceSpec{"gaudi", Reported(32), 0, 0};
  if (name == "gaudi2") return DeviceSpec{"gaudi2", Reported(96), 432e12, 2.45e12};
  if (name == "gaudi3") return DeviceSpec{"gaudi3", Reported(128), 1835e12, 3.7e12};
  return absl::InvalidArgumentError(
      absl::StrCat("unknown device '", name, "'; wanted cpu, gaudi, gaudi2 or gaudi3"));
}

absl::StatusOr<DeviceSpec> DeviceSpecWithMemory(absl::string_view name, double memory_gb) {
  TRENCADIS_ASSIGN_OR_RETURN(DeviceSpec spec, FindDeviceSpec(name));
  if (!(memory_gb > 0) || memory_gb > 1e6) {
    return absl::InvalidArgumentError(
        absl::StrCat("device memory is ", memory_gb, " GB; wanted a positive number of GiB"));
  }
  spec.memory_bytes = static_cast<int64_t>(memory_gb * kGiB);
  return spec;
}

}  // namespace trencadis
