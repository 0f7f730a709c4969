#include "runtime/ops/registry.h"

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "runtime/base/status.h"
#include "runtime/ir/graph.h"
#include "runtime/ops/op_tables.h"

namespace trencadis::ops {
namespace {

struct Registry {
  std::vector<const ir::OpDef*> ops;
  absl::flat_hash_map<absl::string_view, const ir::OpDef*> by_name;

  Registry() {
    Add(OpTable(ir::InputOp(), 1));
    for (OpTable table : {GeneratorOps(), UnaryOps(), ActivationOps(), BinaryOps(), LogicalOps(),
                          RandomOps(), ViewOps(), ReductionOps(), MatmulOps(), IndexingOps(),
                          ShapingOps(), AttentionOps(), LinearCrossEntropyOps(), StructuralOps()}) {
      Add(table);
    }
  }

  void Add(OpTable table) {
    for (const ir::OpDef& op : table) {
      TRENCADIS_CHECK(by_name.emplace(op.name, &op).second);
      ops.push_back(&op);
    }
  }
};

const Registry& TheRegistry() {
  static const Registry* const registry = new Registry;
  return *registry;
}

}  // namespace

const ir::OpDef* FindOp(absl::string_view name) {
  const auto& by_name = TheRegistry().by_name;
  const auto it = by_name.find(name);
  return it == by_name.end() ? nullptr : it->second;
}

absl::Span<const ir::OpDef* const> AllOps() { return TheRegistry().ops; }

}  // namespace trencadis::ops
