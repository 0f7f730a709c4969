// For tests: sets an environment variable for the life of the object, then restores it. Not
// thread-safe, like the environment itself.
#ifndef TRENCADIS_RUNTIME_BASE_SCOPED_ENV_H_
#define TRENCADIS_RUNTIME_BASE_SCOPED_ENV_H_

#include <cstdlib>
#include <string>
#include <utility>

#include "runtime/base/env.h"

namespace trencadis {

class ScopedEnv {
 public:
  ScopedEnv(std::string name, const std::string& value)
      : name_(std::move(name)), was_set_(EnvIsSet(name_.c_str())) {
    if (was_set_) old_value_ = EnvString(name_.c_str(), "");
    setenv(name_.c_str(), value.c_str(), /*overwrite=*/1);
  }
  ~ScopedEnv() {
    if (was_set_) {
      setenv(name_.c_str(), old_value_.c_str(), /*overwrite=*/1);
    } else {
      unsetenv(name_.c_str());
    }
  }
  ScopedEnv(const ScopedEnv&) = delete;
  ScopedEnv& operator=(const ScopedEnv&) = delete;

 private:
  std::string name_;
  bool was_set_;
  std::string old_value_;
};

}  // namespace trencadis

#endif  // TRENCADIS_RUNTIME_BASE_SCOPED_ENV_H_
