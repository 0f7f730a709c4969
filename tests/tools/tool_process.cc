#include "tests/tools/tool_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "runtime/base/file.h"

namespace trencadis::tests {
namespace {

std::string ReadText(const std::string& path) {
  const absl::StatusOr<std::string> text = RealFileSystem().ReadFile(path);
  return text.ok() ? *text : "";
}

void Redirect(const std::string& path, int to) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0 || dup2(file, to) < 0) _exit(127);
}

}  // namespace

std::vector<nlohmann::json> ToolResult::JsonLines() const {
  std::vector<nlohmann::json> lines;
  for (absl::string_view line : absl::StrSplit(out, '\n', absl::SkipEmpty())) {
    nlohmann::json object = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    EXPECT_TRUE(object.is_object()) << "no JSON object: " << line;
    lines.push_back(std::move(object));
  }
  return lines;
}

ToolProcess::ToolProcess(const std::string& tool, const std::vector<std::string>& args) {
  static std::atomic<int> runs{0};
  const std::string log = JoinPath(testing::TempDir(), absl::StrCat("run", runs++));
  out_path_ = log + ".out";
  err_path_ = log + ".err";
  const std::string binary = absl::StrCat("tools/", tool);
  std::vector<char*> argv = {const_cast<char*>(binary.c_str())};
  for (const std::string& arg : args) argv.push_back(const_cast<char*>(arg.c_str()));
  argv.push_back(nullptr);
  pid_ = fork();
  if (pid_ != 0) return;
  Redirect("/dev/null", STDIN_FILENO);
  Redirect(out_path_, STDOUT_FILENO);
  Redirect(err_path_, STDERR_FILENO);
  execv(argv[0], argv.data());
  _exit(127);
}

ToolProcess::~ToolProcess() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

bool ToolProcess::SignalWhen(int signal, const std::function<bool()>& condition) {
  constexpr int kPollMicroseconds = 500;
  while (!condition()) {
    siginfo_t info = {};
    // Leaves the process to Wait.
    if (waitid(P_PID, pid_, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != 0) {
      return false;
    }
    usleep(kPollMicroseconds);
  }
  return kill(pid_, signal) == 0;
}

ToolResult ToolProcess::Wait() {
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = 0;
  ToolResult result;
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.out = ReadText(out_path_);
  result.err = ReadText(err_path_);
  return result;
}

ToolResult RunTool(const std::string& tool, const std::vector<std::string>& args) {
  return ToolProcess(tool, args).Wait();
}

}  // namespace trencadis::tests
