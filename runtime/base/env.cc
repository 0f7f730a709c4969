#include "runtime/base/env.h"

#include <cstdio>
#include <cstdlib>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"

namespace trencadis {
namespace {

// Logging itself reads its level from here, so this cannot go through it.
void ReportMalformed(const char* name, const char* value, const char* wanted) {
  std::fprintf(stderr, "environment variable %s is '%s'; wanted %s; using the default\n", name,
               value, wanted);
}

}  // namespace

bool EnvIsSet(const char* name) { return std::getenv(name) != nullptr; }

std::string EnvString(const char* name, absl::string_view default_value) {
  const char* value = std::getenv(name);
  return value != nullptr ? std::string(value) : std::string(default_value);
}

int64_t EnvInt(const char* name, int64_t default_value) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return default_value;
  int64_t number = 0;
  if (absl::SimpleAtoi(value, &number)) return number;
  ReportMalformed(name, value, "an integer");
  return default_value;
}

bool EnvBool(const char* name, bool default_value) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return default_value;
  const std::string lower = absl::AsciiStrToLower(absl::StripAsciiWhitespace(value));
  if (lower == "on") return true;
  if (lower == "off") return false;
  bool truth = false;
  if (absl::SimpleAtob(lower, &truth)) return truth;
  ReportMalformed(name, value, "true or false");
  return default_value;
}

}  // namespace trencadis
