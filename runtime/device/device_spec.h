// DeviceSpec: what a card is, as far as jobs can tell: its name, its memory and its rates.
//
// On the software HPU every profile computes on the host CPU; the profile decides how much memory
// there is.
#ifndef TRENCADIS_RUNTIME_DEVICE_DEVICE_SPEC_H_
#define TRENCADIS_RUNTIME_DEVICE_DEVICE_SPEC_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace trencadis {

struct DeviceSpec {
  std::string name;
  // What the card reports as its total, in bytes. A 96 GB Gaudi 2 reports 94.62 GiB.
  int64_t memory_bytes = 0;
  // Dense bf16 products per second and memory bandwidth of the real card, for estimates; 0 when
  // unknown.
  double bf16_flops_per_s = 0;
  double memory_bytes_per_s = 0;
};

// "cpu" (the host's physical memory), "gaudi", "gaudi2" or "gaudi3". Vendor numbers: HBM 32, 96,
// 128 GB; 432 and 1835 TFLOP/s, 2.45 and 3.7 TB/s for Gaudi 2 and 3.
absl::StatusOr<DeviceSpec> FindDeviceSpec(absl::string_view name);

// The profile `name` with its memory replaced by `memory_gb` * 1024^3 bytes.
absl::StatusOr<DeviceSpec> DeviceSpecWithMemory(absl::string_view name, double memory_gb);

}  // namespace trencadis

#endif  // TRENCADIS_RUNTIME_DEVICE_DEVICE_SPEC_H_
