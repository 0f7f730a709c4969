// Context: one program's pending graph on one device.
//
// Ops on tensors are recorded, not run. MarkStep compiles everything that live tensors need into
// one recipe and launches it. In eager mode each op is a step of its own; a limit on compound ops
// marks a step after that many. The first error (bad shapes, out of memory, a failed launch)
// sticks: ops then return tensors that will never be computed, and MarkStep, ToHost and status
// return it. Used by one thread.
#ifndef TRENCADIS_RUNTIME_LAZY_CONTEXT_H_
#define TRENCADIS_RUNTIME_LAZY_CONTEXT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/device/device.h"
#include "runtime/ir/graph.h"
#include "runtime/lazy/recipe_provider.h"
#include "runtime/lazy/tensor.h"

namespace trencadis::lazy {

// The compiler passes named in the environment's HPU_DISABLE_PASSES, separated by commas.
std::vector<std::string> DisabledPasses();

struct ContextOptions {
  // A step is marked after this many recorded ops: 1 is eager mode, 0 no limit
  // (PT_HPU_MAX_COMPOUND_OP_SIZE).
  int64_t max_compound_ops = 0;
  std::vector<std::string> disabled_passes = DisabledPasses();
};

// Hears of every op that is recorded; a tape is one.
class OpListener {
 public:
  virtual ~OpListener() = default;
  virtual void OnOp(const ir::OpDef& op, const ir::Attributes& attributes,
                    absl::Span<const Tensor> operands, absl::Span<const Tensor> results) = 0;
  // Whether a gradient will be asked through `tensor`.
  virtual bool NeedsGradient(const Tensor& tensor) const = 0;
};

class Context {
 public:
  // Borrows both, which outlive the context.
  Context(Device* device, RecipeProvider* recipes, ContextOptions options = {});

  Device& device() { return *device_; }

  Tensor FromHost(const Literal& literal);
  Tensor Uninitialised(const TensorType& type);
  absl::StatusOr<Literal> ToHost(const Tensor& tensor);

  // Records `op`; results are pending tensors of the inferred types.
  std::vector<Tensor> Record(const ir::OpDef& op, absl::Span<const Tensor> operands,
                             ir::Attributes attributes);

  // Compiles and launches what live tensors need, and forgets the rest.
  absl::Status MarkStep();
  // MarkStep, then waits for the device.
  absl::Status Synchronize();

  const absl::Status& status() const { return status_; }
  // Makes `status` stick if it is the first error.
  void Fail(absl::Status status);

  // The innermost listener, or null.
  OpListener* listener() const { return listener_; }
  void set_listener(OpListener* listener) { listener_ = listener; }

  int64_t num_pending() const { return static_cast<int64_t>(pending_.size()); }
  // The graph that MarkStep would compile, for tools.
  absl::StatusOr<ir::Graph> PendingGraph() const;

 private:
  friend class LabelScope;

  struct PendingNode {
    const ir::OpDef* op;
    ir::Attributes attributes;
    std::vector<std::shared_ptr<ValueState>> operands;
    std::vector<std::weak_ptr<ValueState>> results;
    std::string label;
  };
  // A graph with what its arguments and outputs stand for.
  struct Step {
    ir::Graph graph;
    std::vector<std::shared_ptr<ValueState>> arguments;
    std::vector<std::shared_ptr<ValueState>> outputs;
  };

  Tensor Materialised(const TensorType& type, absl::StatusOr<BufferPtr> buffer);
  absl::StatusOr<Step> BuildStep() const;
  absl::Status LaunchStep();
  std::vector<bool> NodesToRun(absl::Span<const std::shared_ptr<ValueState>> outputs) const;

  Device* device_;
  RecipeProvider* recipes_;
  const ContextOptions options_;
  absl::Status status_;
  OpListener* listener_ = nullptr;
  std::vector<PendingNode> pending_;
  std::string label_;
};

// While it lives, recorded ops carry "outer.name" as their label in reports and memory plans.
class LabelScope {
 public:
  LabelScope(Context& context, absl::string_view name);
  ~LabelScope();
  LabelScope(const LabelScope&) = delete;
  LabelScope& operator=(const LabelScope&) = delete;

 private:
  Context& context_;
  size_t outer_size_;
};

}  // namespace trencadis::lazy

#endif  // TRENCADIS_RUNTIME_LAZY_CONTEXT_H_
