// ToolProcess: one run of a tool as a user starts it, for end-to-end tests.
#ifndef TRENCADIS_TESTS_TOOLS_TOOL_PROCESS_H_
#define TRENCADIS_TESTS_TOOLS_TOOL_PROCESS_H_

#include <sys/types.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace trencadis::tests {

struct ToolResult {
  int exit_code = -1;  // 128 + signal where one ended it
  std::string out;
  std::string err;

  // The lines of `out`, each of which is a JSON object; a line that is none fails the test.
  std::vector<nlohmann::json> JsonLines() const;
};

class ToolProcess {
 public:
  // Starts `tool` of //tools ("run_clm", "quickstart/make_corpus") from the test's runfiles.
  ToolProcess(const std::string& tool, const std::vector<std::string>& args);
  ~ToolProcess();
  ToolProcess(const ToolProcess&) = delete;
  ToolProcess& operator=(const ToolProcess&) = delete;

  // Sends `signal` once `condition` holds; false if the process ended before.
  bool SignalWhen(int signal, const std::function<bool()>& condition);
  ToolResult Wait();

 private:
  pid_t pid_;
  std::string out_path_;
  std::string err_path_;
};

// Start and Wait.
ToolResult RunTool(const std::string& tool, const std::vector<std::string>& args);

}  // namespace trencadis::tests

#endif  // TRENCADIS_TESTS_TOOLS_TOOL_PROCESS_H_
