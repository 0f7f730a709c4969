#include "runtime/lazy/tensor.h"

#include <utility>

#include "runtime/base/status.h"
#include "runtime/lazy/context.h"

namespace trencadis::lazy {

Tensor::Tensor(Context* context, std::shared_ptr<ValueState> state) {
  auto handle = std::make_shared<Handle>(Handle{context, std::move(state)});
  handle->state->handle = handle;
  handle_ = std::move(handle);
}

Tensor Tensor::FromHost(Context& context, const Literal& literal) {
  return context.FromHost(literal);
}

Tensor Tensor::Uninitialised(Context& context, const TensorType& type) {
  return context.Uninitialised(type);
}

absl::StatusOr<Literal> Tensor::ToHost() const { return context().ToHost(*this); }

void Tensor::Freeze() const {
  TRENCADIS_CHECK(state().buffer != nullptr);
  state().buffer->Freeze();
}

}  // namespace trencadis::lazy
