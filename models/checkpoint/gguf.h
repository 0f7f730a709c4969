// Reads GGUF files (versions 2 and 3), the format of llama.cpp.
//
// Checks what ggml's own reader checks, and everything that a hostile file could make overflow:
// names and keys are distinct, alignment is a power of two, tensors follow each other without gap,
// and all of them lie inside the file.
#ifndef TRENCADIS_MODELS_CHECKPOINT_GGUF_H_
#define TRENCADIS_MODELS_CHECKPOINT_GGUF_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "models/checkpoint/element_conversion.h"
#include "models/checkpoint/gguf_metadata.h"
#include "models/checkpoint/tensor_source.h"
#include "runtime/base/mapped_file.h"

namespace trencadis::checkpoint {

struct GgufOptions {
  // Reads metadata and the list of tensors of a file whose tensor data is not there. Tensors can
  // then not be read.
  bool header_only = false;
};

// Tensors have the file's own names ("blk.0.attn_q.weight"); their shapes are outermost first, the
// reverse of the order in the file. F32, F16, BF16, F64, I32, I64, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0,
// Q4_K, Q5_K and Q6_K can be read; tensors of ggml's other types are listed only.
class GgufFile : public TensorSource {
 public:
  // Errors name the file. InvalidArgument for a malformed file, DataLoss for a truncated one.
  static absl::StatusOr<std::unique_ptr<GgufFile>> Open(const std::string& path,
                                                        const GgufOptions& options = {});

  const GgufMetadata& metadata() const { return metadata_; }
  // A tensor's bytes as they are stored; `info` is one of tensors(). Empty in a header-only file.
  absl::Span<const std::byte> StoredBytes(const TensorInfo& info) const;

 protected:
  absl::Status ReadCheckedRows(const TensorInfo& info, int64_t first_row, int64_t rows, DType dtype,
                               absl::Span<std::byte> out) const override;

 private:
  struct Location {
    std::optional<StoredType> type;  // empty: a type that cannot be read
    uint64_t offset_bytes = 0;       // from the start of the file
  };
  struct Entry {
    TensorInfo info;
    Location location;
  };

  explicit GgufFile(MappedFile file) : file_(std::move(file)) {}
  absl::Status ReadHeader();
  static absl::StatusOr<Entry> ReadTensorInfo(GgufCursor& cursor);
  // Checks where the tensors lie, given that their data starts at the first multiple of `alignment`
  // from `header_end` on, and stores them.
  absl::Status PlaceTensors(std::vector<Entry> entries, uint64_t alignment, uint64_t header_end);

  MappedFile file_;
  GgufOptions options_;
  GgufMetadata metadata_;
  std::vector<Location> locations_;  // parallel to tensors()
};

}  // namespace trencadis::checkpoint

#endif  // TRENCADIS_MODELS_CHECKPOINT_GGUF_H_
