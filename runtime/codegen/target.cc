#include "runtime/codegen/target.h"

#include <gnu/libc-version.h>
#include <omp.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "llvm/Config/llvm-config.h"
#include "oneapi/dnnl/dnnl_version.h"

namespace trencadis::codegen {
namespace {

std::string HostLevel() {
  if (__builtin_cpu_supports("x86-64-v4")) return "x86-64-v4";
  if (__builtin_cpu_supports("x86-64-v3")) return "x86-64-v3";
  return "x86-64-v2";
}

std::vector<std::string> HostFeatures() {
  std::vector<std::string> features;
  if (__builtin_cpu_supports("avx512bf16")) features.push_back("avx512bf16");
  if (__builtin_cpu_supports("avx512vnni")) features.push_back("avx512vnni");
  return features;
}

}  // namespace

Target Target::Host() {
  Target target;
  target.cpu = HostLevel();
  if (target.cpu == "x86-64-v4") target.features = HostFeatures();
  target.threads = omp_get_max_threads();
  target.llvm_version = LLVM_VERSION_STRING;
  target.onednn_version =
      absl::StrCat(DNNL_VERSION_MAJOR, ".", DNNL_VERSION_MINOR, ".", DNNL_VERSION_PATCH);
  target.glibc_version = gnu_get_libc_version();
  target.compiler_build = absl::StrCat("gcc-", __VERSION__);
  return target;
}

absl::StatusOr<Target> Target::HostWithCpu(absl::string_view cpu) {
  if (cpu != "x86-64-v2" && cpu != "x86-64-v3" && cpu != "x86-64-v4") {
    return absl::InvalidArgumentError(
        absl::StrCat("unknown CPU level '", cpu, "'; wanted x86-64-v2, x86-64-v3 or x86-64-v4"));
  }
  Target target = Host();
  target.cpu = std::string(cpu);
  target.features.clear();
  return target;
}

bool Target::HasFeature(absl::string_view feature) const {
  return std::find(features.begin(), features.end(), feature) != features.end();
}

int Target::Lanes() const {
  if (cpu == "x86-64-v4") return 16;
  return cpu == "x86-64-v3" ? 8 : 4;
}

std::string Target::ToString() const {
  return absl::StrCat(cpu, features.empty() ? "" : "+", absl::StrJoin(features, "+"),
                      " threads=", threads, " llvm=", llvm_version, " onednn=", onednn_version,
                      " glibc=", glibc_version, " compiler=", compiler_build);
}

}  // namespace trencadis::codegen
