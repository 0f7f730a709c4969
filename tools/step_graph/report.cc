#include "tools/step_graph/report.h"

#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/base/atomic_file.h"
#include "runtime/base/file.h"
#include "runtime/base/status.h"
#include "runtime/compiler/graph_report.h"
#include "runtime/ir/text.h"
#include "runtime/recipe/dump.h"

namespace trencadis::tools {
namespace {

using Json = nlohmann::ordered_json;

std::map<std::string, int> StepsByKind(const recipe::RecipeProto& recipe) {
  std::map<std::string, int> kinds;
  for (const recipe::Step& step : recipe.steps()) {
    const std::string text = recipe::KindText(step);
    ++kinds[text.substr(0, text.find(' '))];
  }
  return kinds;
}

}  // namespace

std::string SummaryText(const TracedGraph& traced) {
  const recipe::RecipeProto& recipe = traced.recipe;
  std::string text =
      absl::StrFormat("traced     %d nodes, %d inputs, %d outputs\n", traced.graph.num_nodes(),
                      traced.graph.num_inputs(), static_cast<int>(traced.graph.outputs().size()));
  for (const compiler::PassReport& pass : traced.passes) {
    absl::StrAppendFormat(&text, "%-20s %6d nodes  %7.1f ms%s\n", pass.name, pass.nodes_after,
                          pass.seconds * 1e3, pass.changed ? "" : "  (no change)");
  }
  absl::StrAppend(&text, "recipe     ", recipe.steps_size(), " steps:");
  for (const auto& [kind, count] : StepsByKind(recipe)) {
    absl::StrAppend(&text, " ", count, " ", kind);
  }
  absl::StrAppendFormat(
      &text, "\nwork       %.4g flops, %.4g bytes moved\nworkspace  %.2f MiB (lower bound %.2f)\n",
      recipe.flops(), recipe.bytes_moved(), recipe.arena_bytes() / 1048576.0,
      recipe.plan().lower_bound_bytes() / 1048576.0);
  return text;
}

std::string SummaryJson(const TracedGraph& traced) {
  Json passes = Json::array();
  for (const compiler::PassReport& pass : traced.passes) {
    passes.push_back({{"name", pass.name}, {"nodes", pass.nodes_after}, {"seconds", pass.seconds}});
  }
  const recipe::RecipeProto& recipe = traced.recipe;
  return Json{{"event", "graph"},
              {"nodes", traced.graph.num_nodes()},
              {"passes", passes},
              {"steps", StepsByKind(recipe)},
              {"flops", recipe.flops()},
              {"bytes_moved", recipe.bytes_moved()},
              {"workspace_bytes", recipe.arena_bytes()},
              {"lower_bound_bytes", recipe.plan().lower_bound_bytes()},
              {"compile_seconds", recipe.compile_seconds()}}
      .dump();
}

std::string ShownText(const TracedGraph& traced, const std::string& what) {
  if (what == "graph") return ir::GraphToText(traced.graph);
  if (what == "optimised") return ir::GraphToText(traced.optimised);
  if (what == "recipe") return recipe::DumpRecipe(traced.recipe);
  return compiler::PlanToText(traced.recipe);
}

absl::Status WriteFiles(const StepTrace& trace, const std::string& directory) {
  TRENCADIS_RETURN_IF_ERROR(RealFileSystem().CreateDirectories(directory));
  for (size_t i = 0; i < trace.launches.size(); ++i) {
    const TracedGraph& traced = trace.launches[i];
    const std::string number = trace.launches.size() == 1 ? "" : absl::StrCat("-", i + 1);
    const auto write = [&](absl::string_view name, absl::string_view ending,
                           const std::string& text) {
      return WriteFileAtomically(JoinPath(directory, absl::StrCat(name, number, ending)), text);
    };
    for (const char* what : {"graph", "optimised", "recipe", "plan"}) {
      TRENCADIS_RETURN_IF_ERROR(write(what, ".txt", ShownText(traced, what)));
    }
    TRENCADIS_RETURN_IF_ERROR(write("graph", ".dot", compiler::GraphToDot(traced.graph, "graph")));
    TRENCADIS_RETURN_IF_ERROR(
        write("optimised", ".dot", compiler::GraphToDot(traced.optimised, "optimised")));
    TRENCADIS_RETURN_IF_ERROR(write("plan", ".svg", compiler::PlanToSvg(traced.recipe)));
    TRENCADIS_RETURN_IF_ERROR(
        write("timeline", ".json", compiler::RecipeToChromeTrace(traced.recipe)));
  }
  return absl::OkStatus();
}

}  // namespace trencadis::tools
