#include "runtime/compiler/builtin_lowering.h"

#include <initializer_list>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/core/dtype.h"

namespace trencadis::compiler {
namespace {

using recipe::BuiltinStep;

// A node with the types of its operands.
struct Site {
  const ir::Graph& graph;
  const ir::Node& node;

  const TensorType& type(int i) const { return graph.type(node.operands[i]); }
  const TensorType& result() const { return node.results[0]; }
  int64_t axis() const { return node.attributes.Get<int64_t>("axis"); }
};

int64_t Number(DType dtype) { return static_cast<int64_t>(dtype); }

int64_t Product(const Shape& shape, int first, int limit) {
  int64_t product = 1;
  for (int axis = first; axis < limit; ++axis) product *= shape.dim(axis);
  return product;
}

int64_t Outer(const TensorType& type, int64_t axis) {
  return Product(type.shape, 0, static_cast<int>(axis));
}
int64_t Inner(const TensorType& type, int64_t axis) {
  return Product(type.shape, static_cast<int>(axis) + 1, type.shape.rank());
}
int64_t InnerBytes(const TensorType& type, int64_t axis) {
  return Inner(type, axis) * ByteSize(type.dtype);
}

BuiltinStep Call(const char* name, std::initializer_list<int64_t> parameters) {
  BuiltinStep step;
  step.set_name(name);
  for (int64_t parameter : parameters) step.add_parameters(parameter);
  return step;
}

BuiltinStep LowerTake(const Site& s) {
  const TensorType& table = s.type(0);
  return Call("take", {table.shape.dim(0), InnerBytes(table, 0), Number(s.type(1).dtype),
                       s.type(1).shape.num_elements()});
}

BuiltinStep LowerScatterAdd(const Site& s) {
  return Call("scatter_add",
              {Number(s.type(0).dtype), s.type(0).shape.num_elements(), Number(s.type(1).dtype),
               s.result().shape.dim(0), Inner(s.result(), 0), Number(s.result().dtype)});
}

BuiltinStep LowerDynamicSlice(const Site& s) {
  const TensorType& x = s.type(0);
  return Call("dynamic_slice", {Outer(x, s.axis()), x.shape.dim(static_cast<int>(s.axis())),
                                InnerBytes(x, s.axis()), s.node.attributes.Get<int64_t>("size")});
}

BuiltinStep LowerDynamicUpdateSlice(const Site& s) {
  const TensorType& x = s.type(0);
  const int axis = static_cast<int>(s.axis());
  return Call("dynamic_update_slice",
              {Outer(x, axis), x.shape.dim(axis), InnerBytes(x, axis), s.type(1).shape.dim(axis)});
}

BuiltinStep LowerArgmax(const Site& s) {
  const TensorType& x = s.type(0);
  return Call("argmax", {Number(x.dtype), Outer(x, s.axis()),
                         x.shape.dim(static_cast<int>(s.axis())), Inner(x, s.axis())});
}

BuiltinStep LowerConcatenate(const Site& s) {
  BuiltinStep step = Call("concatenate", {Outer(s.result(), s.axis())});
  for (size_t i = 0; i < s.node.operands.size(); ++i) {
    const TensorType& part = s.type(static_cast<int>(i));
    step.add_parameters(part.shape.dim(static_cast<int>(s.axis())) * InnerBytes(part, s.axis()));
  }
  return step;
}

BuiltinStep LowerPad(const Site& s) {
  const TensorType& x = s.type(0);
  BuiltinStep step = Call("pad", {Number(x.dtype)});
  for (int64_t dim : x.shape.dims()) step.add_parameters(dim);
  for (const char* side : {"low", "high"}) {
    for (int64_t amount : s.node.attributes.Get<std::vector<int64_t>>(side)) {
      step.add_parameters(amount);
    }
  }
  step.set_value(s.node.attributes.Get<double>("value"));
  return step;
}

struct Entry {
  absl::string_view op;
  BuiltinStep (*lower)(const Site& site);
};

constexpr Entry kEntries[] = {
    {"take", LowerTake},
    {"scatter_add", LowerScatterAdd},
    {"dynamic_slice", LowerDynamicSlice},
    {"dynamic_update_slice", LowerDynamicUpdateSlice},
    {"argmax", LowerArgmax},
    {"concatenate", LowerConcatenate},
    {"pad", LowerPad},
};

}  // namespace

absl::StatusOr<BuiltinStep> LowerBuiltin(const ir::Graph& graph, const ir::Node& node) {
  for (const Entry& entry : kEntries) {
    if (entry.op == node.op->name) return entry.lower({graph, node});
  }
  return absl::UnimplementedError(absl::StrCat("op ", node.op->name, " has no kernel"));
}

BuiltinStep CopyOf(const TensorType& type) {
  return Call("copy", {ByteSize(type.dtype), type.shape.num_elements(), 1, 1});
}

}  // namespace trencadis::compiler
