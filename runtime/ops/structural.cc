// Ops that say when or together with what others are computed.
//
//   barrier(x, after...) -> x. Whatever reads the result is scheduled after `after`.
//   fusion(operands...){body}: the body's outputs on these arguments; made by the compiler.
#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/ir/graph.h"
#include "runtime/ops/infer.h"
#include "runtime/ops/interpreter.h"
#include "runtime/ops/op_tables.h"
#include "runtime/ops/reference.h"

namespace trencadis::ops {
namespace {

using ir::AttributeKind;
using ir::Attributes;

absl::StatusOr<ir::TypeList> InferBarrier(Operands operands, const Attributes&) {
  if (operands.empty()) return absl::InvalidArgumentError("got no operand; wanted at least one");
  return ir::TypeList{operands[0]};
}

absl::StatusOr<ir::TypeList> InferFusion(Operands operands, const Attributes& attributes) {
  const ir::Graph& body = *attributes.Get<ir::GraphPtr>("body");
  if (operands.size() != static_cast<size_t>(body.num_inputs())) {
    return absl::InvalidArgumentError(absl::StrCat(
        "got ", operands.size(), " operands; the body has ", body.num_inputs(), " inputs"));
  }
  for (int i = 0; i < body.num_inputs(); ++i) {
    TRENCADIS_RETURN_IF_ERROR(RequireType(operands, i, body.type(body.input(i))));
  }
  ir::TypeList results;
  for (ir::Value output : body.outputs()) results.push_back(body.type(output));
  return results;
}

absl::StatusOr<Literals> BarrierReference(LiteralSpan x, const Attributes&, const ir::TypeList&) {
  return Literals{x[0]};
}

absl::StatusOr<Literals> FusionReference(LiteralSpan x, const Attributes& attributes,
                                         const ir::TypeList&) {
  return Interpret(*attributes.Get<ir::GraphPtr>("body"), x);
}

absl::Status BarrierVjp(ir::VjpContext& c) {
  c.SetGradient(0, c.cotangent(0));
  return absl::OkStatus();
}

constexpr ir::AttributeDef kFusionAttributes[] = {{"body", AttributeKind::kGraph}};

constexpr ir::OpDef kOps[] = {
    {.name = "barrier",
     .num_operands = -1,
     .traits = {.op_class = ir::OpClass::kBarrier},
     .infer = InferBarrier,
     .reference = BarrierReference,
     .vjp = BarrierVjp,
     .vjp_reads_operands = 0,
     .vjp_reads_results = 0},
    {.name = "fusion",
     .num_operands = -1,
     .attributes = kFusionAttributes,
     .traits = {.op_class = ir::OpClass::kFusion},
     .infer = InferFusion,
     .reference = FusionReference},
};

}  // namespace

OpTable StructuralOps() { return kOps; }

}  // namespace trencadis::ops
