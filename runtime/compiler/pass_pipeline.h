// PassPipeline: passes in order, each checked, timed, and dumped or left out on demand.
//
// After a pass that changed the graph the verifier runs, and a claim "nothing changed" is compared
// with the graph itself. HPU_DISABLE_PASSES (names, separated by commas) leaves passes out;
// HPU_DUMP_TO (a folder) writes the graph as text before the first pass and after each pass whose
// name matches HPU_DUMP_PASS_RE (a regular expression; all by default).
// Used by one thread at a time.
#ifndef TRENCADIS_RUNTIME_COMPILER_PASS_PIPELINE_H_
#define TRENCADIS_RUNTIME_COMPILER_PASS_PIPELINE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "runtime/compiler/pass.h"

namespace trencadis::compiler {

struct PassReport {
  std::string name;
  bool changed = false;
  double seconds = 0;
  int32_t nodes_after = 0;
};

class PassPipeline {
 public:
  // `graph_name` starts the names of dumped files. A name in `disabled` that no pass has is an
  // error of Run.
  PassPipeline(std::string graph_name, std::vector<std::string> disabled)
      : graph_name_(std::move(graph_name)), disabled_(std::move(disabled)) {}

  void Add(std::unique_ptr<Pass> pass) { passes_.push_back(std::move(pass)); }
  template <typename T, typename... Args>
  void Add(Args&&... args) {
    Add(std::make_unique<T>(std::forward<Args>(args)...));
  }

  // Runs the passes that are not disabled. The error of a pass names it.
  absl::Status Run(ir::Graph& graph);
  // One entry per pass that the last Run ran.
  const std::vector<PassReport>& reports() const { return reports_; }

 private:
  absl::Status RunPass(Pass& pass, ir::Graph& graph);
  absl::StatusOr<std::vector<std::string>> DisabledNames() const;

  std::string graph_name_;
  std::vector<std::string> disabled_;
  std::vector<std::unique_ptr<Pass>> passes_;
  std::vector<PassReport> reports_;
};

}  // namespace trencadis::compiler

#endif  // TRENCADIS_RUNTIME_COMPILER_PASS_PIPELINE_H_
