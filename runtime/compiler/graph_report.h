// Pictures of graphs and memory plans for people: DOT, text, SVG, Chrome's trace format.
//
// Pure functions; thread-safe.
#ifndef TRENCADIS_RUNTIME_COMPILER_GRAPH_REPORT_H_
#define TRENCADIS_RUNTIME_COMPILER_GRAPH_REPORT_H_

#include <string>

#include "absl/strings/string_view.h"
#include "runtime/ir/graph.h"
#include "runtime/recipe/recipe.pb.h"

namespace trencadis::compiler {

// Graphviz: a box per node with op, result types and label; kernels, products and the rest apart by
// colour.
std::string GraphToDot(const ir::Graph& graph, absl::string_view title);

// Peak, lower bound, fragmentation; the values alive at the peak, largest first; and live bytes
// over the steps as bars, at most `rows` of them.
std::string PlanToText(const recipe::RecipeProto& recipe, int rows = 40);

// The arena as a picture: steps to the right, addresses upwards, a rectangle per value whose title
// names it.
std::string PlanToSvg(const recipe::RecipeProto& recipe);

// For chrome://tracing or Perfetto: the steps one after the other, as long as their bytes and
// floating-point operations suggest, a lane of arena values, and live bytes as a counter.
std::string RecipeToChromeTrace(const recipe::RecipeProto& recipe);

}  // namespace trencadis::compiler

#endif  // TRENCADIS_RUNTIME_COMPILER_GRAPH_REPORT_H_
