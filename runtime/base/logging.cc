#include "runtime/base/logging.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <mutex>
#include <set>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "runtime/base/env.h"

namespace trencadis {
namespace {

constexpr char kEraseLine[] = "\r\033[K";

// What is on the terminal's last line. Never destroyed: threads may log during exit.
struct Terminal {
  std::mutex mutex;
  std::string status_line;            // guarded by mutex
  std::set<std::string> warned_keys;  // guarded by mutex
};

Terminal& GlobalTerminal() {
  static Terminal* terminal = new Terminal;
  return *terminal;
}

LogLevel LevelFromEnvironment() {
  const std::string name = absl::AsciiStrToLower(EnvString("TRENCADIS_LOG_LEVEL", "info"));
  if (name == "info" || name.empty()) return LogLevel::kInfo;
  if (name == "warning") return LogLevel::kWarning;
  if (name == "error") return LogLevel::kError;
  if (name == "off") return LogLevel::kOff;
  std::fprintf(stderr, "TRENCADIS_LOG_LEVEL is '%s'; wanted info, warning, error or off\n",
               name.c_str());
  return LogLevel::kInfo;
}

std::atomic<LogLevel>& GlobalLevel() {
  static std::atomic<LogLevel> level{LevelFromEnvironment()};
  return level;
}

absl::string_view LevelName(LogLevel level) {
  switch (level) {
    case LogLevel::kInfo:
      return "INFO";
    case LogLevel::kWarning:
      return "WARNING";
    case LogLevel::kError:
    case LogLevel::kOff:
      return "ERROR";
  }
  return "";
}

// One write per line keeps the lines of processes that share the terminal whole.
void WriteToStderr(absl::string_view text) {
  std::fflush(stderr);
  while (!text.empty()) {
    const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
    if (written <= 0) return;  // Nowhere is left to report it.
    text.remove_prefix(written);
  }
}

}  // namespace

LogLevel MinLogLevel() { return GlobalLevel().load(std::memory_order_relaxed); }

void SetMinLogLevel(LogLevel level) { GlobalLevel().store(level, std::memory_order_relaxed); }

void WarnOnce(absl::string_view key, absl::string_view text) {
  {
    Terminal& terminal = GlobalTerminal();
    std::lock_guard<std::mutex> lock(terminal.mutex);
    if (!terminal.warned_keys.insert(std::string(key)).second) return;
  }
  TRENCADIS_LOG(WARNING) << text;
}

void SetStatusLine(absl::string_view text) {
  Terminal& terminal = GlobalTerminal();
  std::lock_guard<std::mutex> lock(terminal.mutex);
  WriteToStderr(absl::StrCat(kEraseLine, text));
  terminal.status_line = std::string(text);
}

bool StderrIsTerminal() { return isatty(STDERR_FILENO) == 1; }

namespace internal {

LogMessage::~LogMessage() {
  const std::string time =
      absl::FormatTime("%Y-%m-%d %H:%M:%E3S", absl::Now(), absl::LocalTimeZone());
  const std::string line = absl::StrCat(time, " ", LevelName(level_), " ", stream_.str(), "\n");
  Terminal& terminal = GlobalTerminal();
  std::lock_guard<std::mutex> lock(terminal.mutex);
  if (terminal.status_line.empty()) {
    WriteToStderr(line);
  } else {
    WriteToStderr(absl::StrCat(kEraseLine, line, terminal.status_line));
  }
}

}  // namespace internal
}  // namespace trencadis
