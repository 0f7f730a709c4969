#include "runtime/device/device_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace trencadis {
namespace {

constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;

TEST(DeviceSpecTest, CardsReportWhatTheyReallyHave) {
  EXPECT_NEAR(FindDeviceSpec("gaudi2")->memory_bytes / kGiB, 94.62, 1e-6);
  EXPECT_LT(FindDeviceSpec("gaudi")->memory_bytes, FindDeviceSpec("gaudi2")->memory_bytes);
  EXPECT_LT(FindDeviceSpec("gaudi2")->memory_bytes, FindDeviceSpec("gaudi3")->memory_bytes);
  EXPECT_GT(FindDeviceSpec("cpu")->memory_bytes, kGiB / 4);
}

TEST(DeviceSpecTest, UnknownNamesAreRefusedWithTheKnownOnes) {
  const absl::Status status = FindDeviceSpec("gaudi9").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("cpu, gaudi, gaudi2 or gaudi3"));
}

TEST(DeviceSpecTest, MemoryCanBeGiven) {
  EXPECT_EQ(DeviceSpecWithMemory("cpu", 0.5)->memory_bytes, int64_t{1} << 29);
  for (const double bad : {0.0, -1.0, 1e7, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_EQ(DeviceSpecWithMemory("cpu", bad).status().code(), absl::StatusCode::kInvalidArgument)
        << bad;
  }
}

}  // namespace
}  // namespace trencadis
