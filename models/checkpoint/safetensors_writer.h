// Writes safetensors files, streamed: no more than one tensor's bytes need exist at a time.
#ifndef TRENCADIS_MODELS_CHECKPOINT_SAFETENSORS_WRITER_H_
#define TRENCADIS_MODELS_CHECKPOINT_SAFETENSORS_WRITER_H_

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/base/file.h"
#include "runtime/core/literal.h"
#include "runtime/core/shape.h"

namespace trencadis::checkpoint {

// Takes the next bytes of a tensor.
using ByteSink = absl::FunctionRef<absl::Status(absl::Span<const std::byte>)>;

struct TensorToWrite {
  std::string name;
  TensorType type;
  // Called once, when the tensor's turn comes: passes type.byte_size() bytes to the sink, in pieces
  // of any size.
  std::function<absl::Status(ByteSink)> write;
};

// A tensor whose bytes are in host memory; `literal` must outlive the writing.
TensorToWrite ToWrite(std::string name, const Literal& literal);

// Writes `path` as the reference implementation does (metadata {"format": "pt"}, tensors by
// descending element size and then name, header padded to 8 bytes). The file appears under its
// name only when complete. Two tensors of one name are an InvalidArgument error.
absl::Status WriteSafetensors(const std::string& path, std::vector<TensorToWrite> tensors,
                              FileSystem& fs = RealFileSystem());

}  // namespace trencadis::checkpoint

#endif  // TRENCADIS_MODELS_CHECKPOINT_SAFETENSORS_WRITER_H_
