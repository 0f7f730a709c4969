// What the compiler's tests share: graphs from text, random arguments, comparison by value.
#ifndef TRENCADIS_RUNTIME_COMPILER_TESTING_H_
#define TRENCADIS_RUNTIME_COMPILER_TESTING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/compiler/pass.h"
#include "runtime/core/literal.h"
#include "runtime/ir/graph.h"

namespace trencadis::compiler {

// The graph that `text` describes; a test failure and an empty graph if there is none.
ir::Graph GraphFrom(absl::string_view text);

// Arguments for `graph`'s inputs: floats in (-2, 2), integers in 0..3, bools. Equal for equal
// seeds.
std::vector<Literal> RandomArguments(const ir::Graph& graph, uint32_t seed);

// Expects both graphs to give the same bits for random arguments, by the reference interpreter.
void ExpectSameValues(const ir::Graph& a, const ir::Graph& b);

// Runs `pass` on the graph `before`, expects it to report a change and, dead code aside, to leave
// the graph `after`, which computes the same values.
void ExpectRewrite(Pass& pass, absl::string_view before, absl::string_view after);

// Expects `pass` to leave the graph `text` alone and to say so.
void ExpectNoRewrite(Pass& pass, absl::string_view text);

}  // namespace trencadis::compiler

#endif  // TRENCADIS_RUNTIME_COMPILER_TESTING_H_
