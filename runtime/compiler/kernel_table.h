// KernelTable: which nodes of a graph become compiled kernels, and those kernels, each once.
//
// Nodes that compute the same thing share a kernel, named by the fingerprint of what it computes,
// so thirty equal layers cost one compilation. Built and compiled by one thread; const access is
// thread-safe except CanAlias, which fills a cache.
#ifndef TRENCADIS_RUNTIME_COMPILER_KERNEL_TABLE_H_
#define TRENCADIS_RUNTIME_COMPILER_KERNEL_TABLE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/codegen/attention.h"
#include "runtime/codegen/kernel.h"
#include "runtime/codegen/target.h"
#include "runtime/ir/graph.h"

namespace trencadis::compiler {

class KernelTable {
 public:
  // Finds the kernels of `graph`, which is not used afterwards. Unimplemented when a node can be no
  // kernel, naming it.
  static absl::StatusOr<KernelTable> Build(const ir::Graph& graph);

  // The kernel that computes `node`, or -1 when it is none's business.
  int KernelOf(int32_t node) const { return kernel_of_[node]; }
  int num_kernels() const { return static_cast<int>(entries_.size()); }
  // Whether result `result` of the kernel may be written over its operand `operand`.
  bool CanAlias(int kernel, int operand, int result);

  // Compiles all kernels on up to `threads` threads.
  absl::Status Compile(const codegen::Target& target, int threads);
  // Valid after Compile.
  const codegen::KernelCode& code(int kernel) const { return codes_[kernel]; }

 private:
  struct Entry {
    std::string symbol;
    std::shared_ptr<const ir::Graph> body;              // of a loop
    std::unique_ptr<codegen::AttentionSpec> attention;  // otherwise
  };

  absl::Status AddNode(const ir::Graph& graph, int32_t id);
  int Intern(Entry entry);

  std::vector<int> kernel_of_;  // by node
  std::vector<Entry> entries_;
  absl::flat_hash_map<std::string, int> by_symbol_;
  absl::flat_hash_map<std::tuple<int, int, int>, bool> can_alias_;
  std::vector<codegen::KernelCode> codes_;
};

}  // namespace trencadis::compiler

#endif  // TRENCADIS_RUNTIME_COMPILER_KERNEL_TABLE_H_
