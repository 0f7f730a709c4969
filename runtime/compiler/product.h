// How a matrix product of the graph, with or without an epilogue, becomes one library product.
//
// Pure functions; thread-safe.
#ifndef TRENCADIS_RUNTIME_COMPILER_PRODUCT_H_
#define TRENCADIS_RUNTIME_COMPILER_PRODUCT_H_

#include <vector>

#include "absl/status/statusor.h"
#include "runtime/codegen/matmul.h"
#include "runtime/ir/graph.h"

namespace trencadis::compiler {

// Whether `node` is a product: a contraction, or a fusion whose body has one.
bool IsProduct(const ir::Node& node);

struct Product {
  codegen::MatMulSpec spec;
  // The node's operands in the library's order: a, b, one for each post-op that takes one.
  std::vector<int> operands;
};

// The product of `node`. Unimplemented if an epilogue has an op that the library has not.
absl::StatusOr<Product> LowerProduct(const ir::Graph& graph, const ir::Node& node);

}  // namespace trencadis::compiler

#endif  // TRENCADIS_RUNTIME_COMPILER_PRODUCT_H_
