// ReadyStep: one step of a recipe with its code found and its library product made.
#ifndef TRENCADIS_RUNTIME_DEVICE_READY_STEPS_H_
#define TRENCADIS_RUNTIME_DEVICE_READY_STEPS_H_

#include <cstddef>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/codegen/loaded_kernels.h"
#include "runtime/codegen/matmul.h"
#include "runtime/codegen/target.h"
#include "runtime/recipe/recipe.pb.h"

namespace trencadis {

class ReadyStep {
 public:
  virtual ~ReadyStep() = default;
  // `pointers`: the step's operands, then its results; `scratch`: its slice of the arena, or null.
  virtual absl::Status Run(absl::Span<std::byte* const> pointers, std::byte* scratch) const = 0;
};

// `step` comes from a verified recipe; `kernels` must outlive the result.
absl::StatusOr<std::unique_ptr<ReadyStep>> MakeReady(const recipe::Step& step,
                                                     const codegen::LoadedKernels& kernels,
                                                     const codegen::Target& target);

codegen::MatMulSpec MatMulSpecOf(const recipe::MatMulStep& step);

}  // namespace trencadis

#endif  // TRENCADIS_RUNTIME_DEVICE_READY_STEPS_H_
