// Short forms for absl::Status, used at every fallible boundary, and the check for broken
// invariants.
//
// TRENCADIS_CHECK is only for what no file, request or peer can cause: it prints and aborts.
#ifndef TRENCADIS_RUNTIME_BASE_STATUS_H_
#define TRENCADIS_RUNTIME_BASE_STATUS_H_

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace trencadis {

// Returns `status` with "context: " put before its message; OK stays OK.
inline absl::Status Annotate(const absl::Status& status, absl::string_view context) {
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat(context, ": ", status.message()));
}

namespace internal {
[[noreturn]] inline void CheckFailed(const char* file, int line, const char* condition) {
  std::fprintf(stderr, "%s:%d: check failed: %s\n", file, line, condition);
  std::abort();
}
}  // namespace internal
}  // namespace trencadis

#define TRENCADIS_CONCAT_INNER_(a, b) a##b
#define TRENCADIS_CONCAT_(a, b) TRENCADIS_CONCAT_INNER_(a, b)

#define TRENCADIS_RETURN_IF_ERROR(expr)                    \
  do {                                                     \
    absl::Status trencadis_status_ = (expr);               \
    if (!trencadis_status_.ok()) return trencadis_status_; \
  } while (false)

// Evaluates `expr` (a StatusOr), returns its error or moves its value into `lhs`.
#define TRENCADIS_ASSIGN_OR_RETURN(lhs, expr) \
  TRENCADIS_ASSIGN_OR_RETURN_(TRENCADIS_CONCAT_(trencadis_or_, __LINE__), lhs, expr)
#define TRENCADIS_ASSIGN_OR_RETURN_(tmp, lhs, expr) \
  auto tmp = (expr);                                \
  if (!tmp.ok()) return std::move(tmp).status();    \
  lhs = std::move(tmp).value()

#define TRENCADIS_CHECK(condition)                                                        \
  do {                                                                                    \
    if (!(condition)) ::trencadis::internal::CheckFailed(__FILE__, __LINE__, #condition); \
  } while (false)

#endif  // TRENCADIS_RUNTIME_BASE_STATUS_H_
