#include "runtime/compiler/ops_used.h"

#include "runtime/base/status.h"
#include "runtime/ops/registry.h"

namespace trencadis::compiler {
namespace {

const ir::OpDef* MustFind(absl::string_view name) {
  const ir::OpDef* op = ops::FindOp(name);
  TRENCADIS_CHECK(op != nullptr);
  return op;
}

}  // namespace

const OpsUsed& Ops() {
  static const OpsUsed* const used = new OpsUsed{
      .constant = MustFind("constant"),
      .iota = MustFind("iota"),
      .broadcast = MustFind("broadcast"),
      .reshape = MustFind("reshape"),
      .transpose = MustFind("transpose"),
      .slice = MustFind("slice"),
      .reverse = MustFind("reverse"),
      .neg = MustFind("neg"),
      .abs = MustFind("abs"),
      .logical_not = MustFind("not"),
      .convert = MustFind("convert"),
      .relu = MustFind("relu"),
      .add = MustFind("add"),
      .sub = MustFind("sub"),
      .mul = MustFind("mul"),
      .div = MustFind("div"),
      .max = MustFind("max"),
      .min = MustFind("min"),
      .logical_and = MustFind("and"),
      .logical_or = MustFind("or"),
      .select = MustFind("select"),
      .matmul = MustFind("matmul"),
      .concatenate = MustFind("concatenate"),
      .pad = MustFind("pad"),
      .barrier = MustFind("barrier"),
      .fusion = MustFind("fusion"),
  };
  return *used;
}

}  // namespace trencadis::compiler
