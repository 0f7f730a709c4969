#include "runtime/compiler/pass_pipeline.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <regex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "runtime/base/env.h"
#include "runtime/base/status.h"
#include "runtime/ir/text.h"
#include "runtime/ir/verifier.h"

namespace trencadis::compiler {
namespace {

// Writes graphs into the folder HPU_DUMP_TO, when it is set, as
// "<graph>.<compilation>.<pass's number>.<pass>.txt".
class Dumper {
 public:
  explicit Dumper(absl::string_view graph_name)
      : folder_(EnvString("HPU_DUMP_TO", "")), pattern_(EnvString("HPU_DUMP_PASS_RE", "")) {
    static std::atomic<int> compilations{0};
    if (folder_.empty()) return;
    std::string name(graph_name.empty() ? "graph" : graph_name);
    std::replace(name.begin(), name.end(), '/', '_');
    prefix_ = absl::StrFormat("%s/%s.%03d", folder_, name, compilations++);
  }

  absl::Status Dump(const std::string& pass, const ir::Graph& graph) {
    if (folder_.empty()) return absl::OkStatus();
    const int index = next_++;
    try {
      if (!pattern_.empty() && !std::regex_search(pass, std::regex(pattern_))) {
        return absl::OkStatus();
      }
    } catch (const std::regex_error& error) {
      return absl::InvalidArgumentError(
          absl::StrCat("HPU_DUMP_PASS_RE '", pattern_, "': ", error.what()));
    }
    const std::string path = absl::StrFormat("%s.%02d.%s.txt", prefix_, index, pass);
    std::ofstream file(path);
    file << ir::GraphToText(graph);
    if (file.flush()) return absl::OkStatus();
    return absl::NotFoundError(absl::StrCat("cannot write ", path, "; HPU_DUMP_TO wants a folder"));
  }

 private:
  std::string folder_;
  std::string pattern_;
  std::string prefix_;
  int next_ = 0;
};

}  // namespace

absl::StatusOr<std::vector<std::string>> PassPipeline::DisabledNames() const {
  std::vector<std::string> names = disabled_;
  for (absl::string_view name :
       absl::StrSplit(EnvString("HPU_DISABLE_PASSES", ""), ',', absl::SkipWhitespace())) {
    names.emplace_back(absl::StripAsciiWhitespace(name));
  }
  for (const std::string& name : names) {
    const auto is_named = [&](const std::unique_ptr<Pass>& pass) { return pass->name() == name; };
    if (std::any_of(passes_.begin(), passes_.end(), is_named)) continue;
    const auto append = [](std::string* out, const std::unique_ptr<Pass>& pass) {
      absl::StrAppend(out, pass->name());
    };
    return absl::InvalidArgumentError(absl::StrCat("cannot disable pass '", name, "'; passes are ",
                                                   absl::StrJoin(passes_, ", ", append)));
  }
  return names;
}

absl::Status PassPipeline::RunPass(Pass& pass, ir::Graph& graph) {
  const ir::Graph before = graph;
  const auto start = std::chrono::steady_clock::now();
  TRENCADIS_ASSIGN_OR_RETURN(const bool changed, pass.Run(graph));
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  reports_.push_back({std::string(pass.name()), changed, elapsed.count(), graph.num_nodes()});
  if (changed) {
    TRENCADIS_RETURN_IF_ERROR(ir::VerifyGraph(graph));
  } else if (!(graph == before)) {
    return absl::InternalError("it changed the graph and said that it did not");
  }
  return absl::OkStatus();
}

absl::Status PassPipeline::Run(ir::Graph& graph) {
  TRENCADIS_ASSIGN_OR_RETURN(const std::vector<std::string> disabled, DisabledNames());
  reports_.clear();
  Dumper dumper(graph_name_);
  TRENCADIS_RETURN_IF_ERROR(dumper.Dump("input", graph));
  for (const std::unique_ptr<Pass>& pass : passes_) {
    const std::string name(pass->name());
    if (std::find(disabled.begin(), disabled.end(), name) != disabled.end()) continue;
    TRENCADIS_RETURN_IF_ERROR(Annotate(RunPass(*pass, graph), absl::StrCat("pass ", name)));
    TRENCADIS_RETURN_IF_ERROR(dumper.Dump(name, graph));
  }
  return absl::OkStatus();
}

}  // namespace trencadis::compiler
