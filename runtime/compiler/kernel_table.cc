#include "runtime/compiler/kernel_table.h"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/fingerprint.h"
#include "runtime/base/status.h"
#include "runtime/codegen/fusion.h"
#include "runtime/compiler/graph_util.h"
#include "runtime/compiler/ops_used.h"
#include "runtime/compiler/passes/fusion_body.h"
#include "runtime/compiler/product.h"
#include "runtime/ir/fingerprint.h"
#include "runtime/ops/attention_shape.h"

namespace trencadis::compiler {
namespace {

bool IsEmpty(const ir::Node& node) {
  for (const TensorType& type : node.results) {
    if (type.shape.num_elements() > 0) return false;
  }
  return true;
}

// Whether `node`, outside any fusion, is a loop of its own.
bool IsLoneLoop(const ir::Node& node) {
  switch (ClassOf(node)) {
    case ir::OpClass::kElementwise:
    case ir::OpClass::kReduction:
      return true;
    case ir::OpClass::kView:
      return node.op != Ops().reshape;
    case ir::OpClass::kGenerator:
      return node.op != Ops().constant;
    default:
      return false;
  }
}

bool IsAttention(const ir::Node& node) {
  return node.op->name == "attention" || node.op->name == "attention_grad";
}

codegen::AttentionSpec AttentionSpecOf(const ir::Graph& graph, const ir::Node& node) {
  const bool backward = node.op->name == "attention_grad";
  const TensorType& q = graph.type(node.operands[backward ? 1 : 0]);
  const TensorType& k = graph.type(node.operands[backward ? 2 : 1]);
  const auto shape = ops::AttentionShape::Of(q, k, node.attributes);
  codegen::AttentionSpec spec;
  spec.backward = backward;
  spec.dtype = q.dtype;
  spec.batch = shape.batch;
  spec.queries = shape.queries;
  spec.keys = shape.keys;
  spec.heads = shape.heads;
  spec.kv_heads = shape.kv_heads;
  spec.head_dim = shape.width;
  spec.scale = shape.scale;
  spec.causal = shape.causal;
  spec.window = shape.window;
  spec.has_segments = shape.has_segments;
  spec.has_offset = shape.has_offset;
  return spec;
}

std::string AttentionSymbol(const codegen::AttentionSpec& s) {
  Fingerprinter fingerprint;
  fingerprint.Add(s.backward).Add(s.dtype).Add(s.batch).Add(s.queries).Add(s.keys).Add(s.heads);
  fingerprint.Add(s.kv_heads).Add(s.head_dim).Add(s.scale).Add(s.causal).Add(s.window);
  fingerprint.Add(s.has_segments).Add(s.has_offset);
  return absl::StrCat("attention_", fingerprint.Finish().ToHex());
}

}  // namespace

absl::StatusOr<KernelTable> KernelTable::Build(const ir::Graph& graph) {
  KernelTable table;
  table.kernel_of_.assign(graph.num_nodes(), -1);
  for (int32_t id = graph.num_inputs(); id < graph.num_nodes(); ++id) {
    TRENCADIS_RETURN_IF_ERROR(table.AddNode(graph, id));
  }
  return table;
}

absl::Status KernelTable::AddNode(const ir::Graph& graph, int32_t id) {
  const ir::Node& node = graph.node(id);
  if (IsEmpty(node)) return absl::OkStatus();
  Entry entry;
  if (IsAttention(node)) {
    entry.attention = std::make_unique<codegen::AttentionSpec>(AttentionSpecOf(graph, node));
    entry.symbol = AttentionSymbol(*entry.attention);
  } else if (ClassOf(node) == ir::OpClass::kFusion && !IsProduct(node)) {
    entry.body = node.attributes.Get<ir::GraphPtr>("body");
  } else if (IsLoneLoop(node)) {
    TRENCADIS_ASSIGN_OR_RETURN(ir::Graph body, SingleNodeBody(graph, id));
    entry.body = std::make_shared<const ir::Graph>(std::move(body));
  } else {
    return absl::OkStatus();
  }
  if (entry.body != nullptr) {
    TRENCADIS_RETURN_IF_ERROR(
        Annotate(codegen::CheckFusible(*entry.body), absl::StrCat("node ", id)));
    entry.symbol = absl::StrCat("loop_", ir::FingerprintGraph(*entry.body).ToHex());
  }
  kernel_of_[id] = Intern(std::move(entry));
  return absl::OkStatus();
}

int KernelTable::Intern(Entry entry) {
  const auto [it, is_new] = by_symbol_.try_emplace(entry.symbol, num_kernels());
  if (is_new) entries_.push_back(std::move(entry));
  return it->second;
}

bool KernelTable::CanAlias(int kernel, int operand, int result) {
  const Entry& entry = entries_[kernel];
  if (entry.body == nullptr) return false;
  const auto [it, is_new] = can_alias_.try_emplace({kernel, operand, result}, false);
  if (is_new) it->second = codegen::CanAlias(*entry.body, operand, result);
  return it->second;
}

absl::Status KernelTable::Compile(const codegen::Target& target, int threads) {
  // Attention takes longest, so it goes first.
  std::vector<int> order(entries_.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_partition(order.begin(), order.end(),
                        [&](int kernel) { return entries_[kernel].attention != nullptr; });
  std::vector<absl::StatusOr<codegen::KernelCode>> results(entries_.size(), codegen::KernelCode());
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i = next++; i < order.size(); i = next++) {
      const Entry& entry = entries_[order[i]];
      results[order[i]] = entry.attention != nullptr
                              ? codegen::CompileAttention(*entry.attention, target, entry.symbol)
                              : codegen::CompileFusion(*entry.body, target, entry.symbol);
    }
  };
  std::vector<std::thread> helpers;
  for (int i = 1; i < std::min(threads, num_kernels()); ++i) helpers.emplace_back(work);
  work();
  for (std::thread& helper : helpers) helper.join();
  codes_.clear();
  for (absl::StatusOr<codegen::KernelCode>& result : results) {
    TRENCADIS_RETURN_IF_ERROR(result.status());
    codes_.push_back(*std::move(result));
  }
  return absl::OkStatus();
}

}  // namespace trencadis::compiler
