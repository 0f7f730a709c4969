// Environment variables: the only place of the project that reads them.
//
// Values are read anew at each call; a caller on a hot path keeps the answer. Thread-safe as long
// as no thread changes the environment.
#ifndef TRENCADIS_RUNTIME_BASE_ENV_H_
#define TRENCADIS_RUNTIME_BASE_ENV_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace trencadis {

// True when the variable is set, be it to "".
bool EnvIsSet(const char* name);

// The variable's value, or `default_value` when it is not set. A number or boolean that cannot be
// read is reported on standard error and counts as not set. Booleans are 1/0, true/false, yes/no,
// on/off in any case.
std::string EnvString(const char* name, absl::string_view default_value);
int64_t EnvInt(const char* name, int64_t default_value);
bool EnvBool(const char* name, bool default_value);

}  // namespace trencadis

#endif  // TRENCADIS_RUNTIME_BASE_ENV_H_
