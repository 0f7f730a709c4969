// OpCase: one op on operands of given types, from which come its tests (against hand-written
// values, finite differences, compiled code against the reference) and its benchmark.
//
// An op needs at least one case: op_cases_test fails otherwise. Cases are plain data; operands are
// made when asked for, the same in every run.
#ifndef TRENCADIS_RUNTIME_OPS_OP_CASE_H_
#define TRENCADIS_RUNTIME_OPS_OP_CASE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/core/literal.h"
#include "runtime/ir/graph.h"
#include "runtime/ops/close.h"

namespace trencadis::ops {

struct OperandSpec {
  TensorType type;
  // Uniform in [low, high] (integers: both included; bool: as integers, so 0 to 1).
  double low = -2;
  double high = 2;
  // Evenly spaced in [low, high], shuffled: no two are equal and no difference is tiny.
  bool distinct = false;
  // These values, whatever is above.
  ir::LiteralPtr values;
};

struct OpCase {
  std::string name;  // "op/what is special", unique
  std::string op;
  ir::Attributes attributes;
  std::vector<OperandSpec> operands;
  // What the op must give, written by hand; empty: the reference is the only word.
  std::vector<Literal> expected;
  // How far f32 arithmetic in another order may be from the reference. bf16 results may in addition
  // be the other neighbour of the exact value.
  Tolerance tolerance = {.relative = 2e-6, .absolute = 1e-6};
  // Whether the vjp is compared with finite differences of result 0 (f32 operands only).
  bool check_gradient = false;
  // Big enough to time, too big for the reference in a unit test.
  bool large = false;
};

// Every case of every op, in the order of the registry's files.
const std::vector<OpCase>& AllOpCases();

// The operands, pseudo-random from the case's name.
std::vector<Literal> MakeOperands(const OpCase& op_case);
Literal MakeOperand(const OperandSpec& spec, uint64_t seed);

// A graph that is the op alone: operands are its inputs, results its outputs.
absl::StatusOr<ir::Graph> CaseGraph(const OpCase& op_case);

// What the reference says about `operands`: the results of the op.
absl::StatusOr<std::vector<Literal>> RunReference(const OpCase& op_case,
                                                  absl::Span<const Literal> operands);

// A graph of the vjp: inputs are the operands, then dL/d(result 0); outputs the gradients of the
// float operands in order (zeros where the rule sets none). Error if the rule reads a value that
// the op does not declare in vjp_reads_*, or sets a gradient of the wrong type.
absl::StatusOr<ir::Graph> GradientGraph(const OpCase& op_case);

}  // namespace trencadis::ops

#endif  // TRENCADIS_RUNTIME_OPS_OP_CASE_H_
