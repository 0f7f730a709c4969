// For tests: bodies from text, kernels run on literals, and what the reference says.
#ifndef TRENCADIS_RUNTIME_CODEGEN_FUSION_TESTING_H_
#define TRENCADIS_RUNTIME_CODEGEN_FUSION_TESTING_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/codegen/fusion.h"
#include "runtime/core/literal.h"
#include "runtime/ir/graph.h"

namespace trencadis::codegen::testing {

// Parses a graph from its text form; aborts the test on an error.
ir::Graph ParseBody(absl::string_view text);

// Values spread over [-4, 4] (integers over [-100, 100], u8 over [0, 100]), the same for the same
// seed.
Literal RandomLiteral(const TensorType& type, int seed);
// One for each input of `body`.
std::vector<Literal> RandomInputs(const ir::Graph& body, int seed);

// The outputs by each op's reference.
std::vector<Literal> Reference(const ir::Graph& body, const std::vector<Literal>& inputs);

struct RunOptions {
  // How many calls share out each stage's units.
  int pieces = 1;
  // (input, output) pairs that share one buffer.
  std::vector<std::pair<int, int>> aliases;
};

// Compiles `body` for `target`, loads and runs it. Buffers begin at addresses that are aligned to
// nothing but their element, and a write outside one is reported as an error.
absl::StatusOr<std::vector<Literal>> RunBody(const ir::Graph& body, const Target& target,
                                             const std::vector<Literal>& inputs,
                                             const RunOptions& options = {});
absl::StatusOr<std::vector<Literal>> RunKernel(const ir::Graph& body, const KernelCode& kernel,
                                               const std::vector<Literal>& inputs,
                                               const RunOptions& options = {});

// The outputs when each node is compiled and run as a kernel of its own, as eager mode does.
std::vector<Literal> RunOpByOp(const ir::Graph& body, const Target& target,
                               const std::vector<Literal>& inputs);

// Checks a body on random inputs, on the host and on the lesser levels that it can run: near the
// reference; bit for bit the same however the units are split, and op by op.
void CheckBody(absl::string_view text, double tolerance = 3e-6, int seed = 1);

// Equal types and bytes: NaN equals itself, 0 and -0 differ.
bool SameBits(const std::vector<Literal>& a, const std::vector<Literal>& b);

// Reports every output that differs: floats by more than `tolerance` relative to
// max(1, |expected|) (bf16 outputs: plus two of its units), integers at all.
void ExpectNear(const std::vector<Literal>& got, const std::vector<Literal>& expected,
                double tolerance);

}  // namespace trencadis::codegen::testing

#endif  // TRENCADIS_RUNTIME_CODEGEN_FUSION_TESTING_H_
