// Tape: records ops on tensors and walks them backwards.
//
// While a tape lives it listens to its context, and every op through which a watched tensor flows
// is recorded, whether its values are pending or already computed: backward works across mark_step,
// in eager mode and under compound-op limits. It keeps a value only if some vjp rule reads it, and
// lets go of it as the backward pass moves past: a value becomes persistent only when a step is
// marked between its use and its need. The backward pass itself is not recorded. Tapes nest; the
// innermost listens. Used by the context's thread.
#ifndef TRENCADIS_RUNTIME_AUTOGRAD_TAPE_H_
#define TRENCADIS_RUNTIME_AUTOGRAD_TAPE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/lazy/context.h"
#include "runtime/lazy/tensor.h"

namespace trencadis::autograd {

// A part of the forward pass that the backward pass runs again instead of keeping its values.
using Segment = std::function<std::vector<lazy::Tensor>(absl::Span<const lazy::Tensor> inputs)>;

class Tape : public lazy::OpListener {
 public:
  explicit Tape(lazy::Context& context);
  ~Tape() override;
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  // Makes `tensor` a leaf that a gradient can be asked for.
  void Watch(const lazy::Tensor& tensor);

  // Runs `segment` on `inputs` without keeping what happens inside: the backward pass runs it
  // again, after the gradient of its outputs is known. `segment` must do the same each time; it may
  // use watched tensors besides its inputs.
  std::vector<lazy::Tensor> Checkpoint(Segment segment, absl::Span<const lazy::Tensor> inputs);

  // dy/dleaf for each of `leaves` (zeros where y does not depend on one), seeded with `cotangent`,
  // or 1 for a scalar y when it is null. Consumes the tape. InvalidArgument when the path from y to
  // a leaf goes through an op that has no derivative, naming it.
  absl::StatusOr<std::vector<lazy::Tensor>> Gradient(const lazy::Tensor& y,
                                                     absl::Span<const lazy::Tensor> leaves,
                                                     const lazy::Tensor& cotangent = {});

  void OnOp(const ir::OpDef& op, const ir::Attributes& attributes,
            absl::Span<const lazy::Tensor> operands,
            absl::Span<const lazy::Tensor> results) override;
  bool NeedsGradient(const lazy::Tensor& tensor) const override;

 private:
  friend class EntryVjp;

  // A value as an entry remembers it: the tensor itself only if a rule reads it.
  struct Saved {
    uint64_t id = 0;
    TensorType type;
    lazy::Tensor tensor;
  };
  struct Entry {
    const ir::OpDef* op = nullptr;  // null: a checkpointed segment
    ir::Attributes attributes;
    std::vector<Saved> operands;
    std::vector<Saved> results;
    Segment segment;
  };
  using Cotangents = absl::flat_hash_map<uint64_t, lazy::Tensor>;

  absl::Status Backward(Cotangents& cotangents);
  absl::Status BackwardOp(Entry& entry, Cotangents& cotangents);
  absl::Status BackwardSegment(Entry& entry, Cotangents& cotangents);
  bool AnyCotangent(const Entry& entry, const Cotangents& cotangents) const;
  static void Accumulate(Cotangents& cotangents, uint64_t id, const lazy::Tensor& gradient);

  lazy::Context& context_;
  lazy::OpListener* outer_;
  absl::flat_hash_set<uint64_t> needs_gradient_;
  absl::flat_hash_set<uint64_t> watched_ids_;
  std::vector<lazy::Tensor> watched_;  // in the order of Watch
  std::vector<Entry> entries_;
};

// Keeps the context's listener from hearing anything while it lives.
class PauseRecording {
 public:
  explicit PauseRecording(lazy::Context& context)
      : context_(context), listener_(context.listener()) {
    context_.set_listener(nullptr);
  }
  ~PauseRecording() { context_.set_listener(listener_); }
  PauseRecording(const PauseRecording&) = delete;
  PauseRecording& operator=(const PauseRecording&) = delete;

 private:
  lazy::Context& context_;
  lazy::OpListener* listener_;
};

}  // namespace trencadis::autograd

#endif  // TRENCADIS_RUNTIME_AUTOGRAD_TAPE_H_
