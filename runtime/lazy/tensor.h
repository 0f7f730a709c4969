// Tensor: a cheap handle to a value that may not have been computed yet.
//
// Copies share the value. Type and shape are known at once; bytes exist after MarkStep (or ToHost,
// which marks a step). A value whose last handle goes before MarkStep is never stored, and one that
// goes after being replaced gives its memory to its successor: dropping handles is how a program
// frees memory. Used by the thread that owns the context.
#ifndef TRENCADIS_RUNTIME_LAZY_TENSOR_H_
#define TRENCADIS_RUNTIME_LAZY_TENSOR_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "runtime/core/literal.h"
#include "runtime/core/shape.h"
#include "runtime/device/buffer.h"

namespace trencadis::lazy {

class Context;

// What a handle stands for: a result of a pending node, or a buffer. Internal to the context.
struct ValueState {
  TensorType type;
  uint64_t id = 0;
  // Pending: the node's index in the context and which of its results this is.
  int32_t node = -1;
  int32_t output = 0;
  // Materialised: not null.
  BufferPtr buffer;
  // Whether some Tensor still refers to it.
  std::weak_ptr<const void> handle;
};

class Tensor {
 public:
  // A null handle; only assignment and `defined` are allowed.
  Tensor() = default;
  Tensor(Context* context, std::shared_ptr<ValueState> state);

  // A new persistent tensor on the context's device. An error (out of memory) sticks to the context
  // and the handle is still of the literal's type.
  static Tensor FromHost(Context& context, const Literal& literal);
  // The same without contents: on a metering device all that counts is the size.
  static Tensor Uninitialised(Context& context, const TensorType& type);

  bool defined() const { return handle_ != nullptr; }
  const TensorType& type() const { return state().type; }
  const Shape& shape() const { return type().shape; }
  DType dtype() const { return type().dtype; }
  int64_t dim(int axis) const { return shape().dim(axis); }
  int rank() const { return shape().rank(); }
  // Unique among all values of the process.
  uint64_t id() const { return state().id; }
  Context& context() const { return *handle_->context; }

  // The value on the host; marks a step when it is pending. Zeros on a metering device.
  absl::StatusOr<Literal> ToHost() const;
  // Null while pending.
  BufferPtr buffer() const { return state().buffer; }
  // Promises that this materialised tensor never changes: products may use a packed copy.
  void Freeze() const;

  const std::shared_ptr<ValueState>& state_ptr() const { return handle_->state; }

 private:
  struct Handle {
    Context* context;
    std::shared_ptr<ValueState> state;
  };
  const ValueState& state() const { return *handle_->state; }

  std::shared_ptr<const Handle> handle_;
};

}  // namespace trencadis::lazy

#endif  // TRENCADIS_RUNTIME_LAZY_TENSOR_H_
