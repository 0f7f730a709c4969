// The text form of graphs. What GraphToText writes, ParseGraph reads back as an equal graph, bit
// for bit. Both are thread-safe.
//
//   graph {
//     %0 = input() : f32[2,3]
//     %1 = constant(){value=f32[] {0.5}} : f32[]
//     %2 = broadcast(%1){axes=[], shape=[2,3]} : f32[2,3] @"layers.0"
//     %3 = fusion(%0, %2){body=graph {
//       ...
//     }} : (f32[2,3], f32[2])
//     return %3.0, %3.1
//   }
//
// A value is %name, or %name.k for result k of a node that has not exactly one. Attributes are
// true, 1, 1.0, "text", [1, 2], f32 (a dtype), f32[2] {1.0, 2.0} (a literal; {splat 1.0} where all
// elements have the same bits), graph {...}. Numbers are decimal, as short as reads back to the
// same bits, or hexadecimal (0x1.8p+1); NaNs carry theirs (nan:7fc00000). @"..." is the node's
// label. # starts a comment. Hand-written text may use any names and leave out the types of all but
// inputs.
#ifndef TRENCADIS_RUNTIME_IR_TEXT_H_
#define TRENCADIS_RUNTIME_IR_TEXT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/ir/graph.h"

namespace trencadis::ir {

// `graph` passes VerifyGraph.
std::string GraphToText(const Graph& graph);

// Sizes beyond which text is refused, so that a hostile one costs time and memory in proportion.
struct ParseLimits {
  int64_t literal_bytes = int64_t{1} << 28;  // of all literals together
  int32_t nodes = 1 << 20;                   // of all graphs together
};

// Reads one graph (comments and space around it are allowed). Errors begin with "line:column: ".
// The result passes VerifyGraph.
absl::StatusOr<Graph> ParseGraph(absl::string_view text, OpLookup find_op,
                                 const ParseLimits& limits = {});

}  // namespace trencadis::ir

#endif  // TRENCADIS_RUNTIME_IR_TEXT_H_
