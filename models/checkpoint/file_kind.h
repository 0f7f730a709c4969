// Tells what a file really is when it is not what its name says.
#ifndef TRENCADIS_MODELS_CHECKPOINT_FILE_KIND_H_
#define TRENCADIS_MODELS_CHECKPOINT_FILE_KIND_H_

#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace trencadis::checkpoint {

// An error that names the kind of file and what to do about it, when `contents` is one of the usual
// impostors: nothing at all, a Git LFS pointer, an HTML or JSON error page, a pickle or other
// archive, or a weights format other than the `wanted` one ("safetensors", "GGUF"). OK otherwise.
absl::Status CheckNotImpostor(absl::Span<const std::byte> contents, absl::string_view wanted);

}  // namespace trencadis::checkpoint

#endif  // TRENCADIS_MODELS_CHECKPOINT_FILE_KIND_H_
