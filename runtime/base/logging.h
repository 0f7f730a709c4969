// Leveled log lines and the one status line, all on standard error.
//
//   TRENCADIS_LOG(INFO) << "compiled " << name;
//
// writes "2024-05-01 12:00:00.123 INFO compiled step". The environment variable
// TRENCADIS_LOG_LEVEL (info, warning, error or off; default info) sets the least level shown. A
// message below it costs one comparison: its operands are not evaluated. Thread-safe; lines of
// different threads do not mix.
#ifndef TRENCADIS_RUNTIME_BASE_LOGGING_H_
#define TRENCADIS_RUNTIME_BASE_LOGGING_H_

#include <sstream>

#include "absl/strings/string_view.h"

namespace trencadis {

enum class LogLevel { kInfo, kWarning, kError, kOff };

LogLevel MinLogLevel();
void SetMinLogLevel(LogLevel level);

// Logs `text` as a warning the first time that `key` is seen in this process.
void WarnOnce(absl::string_view key, absl::string_view text);

// Keeps `text` as the last line of the terminal, below the log messages; an empty text removes it.
// For a terminal only: the caller checks StderrIsTerminal().
void SetStatusLine(absl::string_view text);
bool StderrIsTerminal();

namespace internal {

// One message: collects what is streamed into it and writes it as a line when destroyed.
class LogMessage {
 public:
  explicit LogMessage(LogLevel level) : level_(level) {}
  ~LogMessage();
  std::ostream& stream() { return stream_; }

 private:
  LogLevel level_;
  std::ostringstream stream_;
};

// Gives the logging macro's two branches the same type, void.
struct LogVoidify {
  void operator&(std::ostream&) {}
};

inline constexpr LogLevel kLogINFO = LogLevel::kInfo;
inline constexpr LogLevel kLogWARNING = LogLevel::kWarning;
inline constexpr LogLevel kLogERROR = LogLevel::kError;

}  // namespace internal
}  // namespace trencadis

// `severity` is INFO, WARNING or ERROR.
#define TRENCADIS_LOG(severity)                                      \
  ::trencadis::internal::kLog##severity < ::trencadis::MinLogLevel() \
      ? (void)0                                                      \
      : ::trencadis::internal::LogVoidify() &                        \
            ::trencadis::internal::LogMessage(::trencadis::internal::kLog##severity).stream()

#endif  // TRENCADIS_RUNTIME_BASE_LOGGING_H_
