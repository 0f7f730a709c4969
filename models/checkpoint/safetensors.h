// Reads a safetensors file.
//
// As strict as the format's definition (huggingface/safetensors): the header is one JSON object of
// at most 100 MB, metadata values are strings, names are distinct, and the tensors' byte ranges
// cover the rest of the file without gap or overlap, each as long as its dtype and shape say.
#ifndef TRENCADIS_MODELS_CHECKPOINT_SAFETENSORS_H_
#define TRENCADIS_MODELS_CHECKPOINT_SAFETENSORS_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "models/checkpoint/element_conversion.h"
#include "models/checkpoint/tensor_source.h"
#include "runtime/base/mapped_file.h"

namespace trencadis::checkpoint {

// Where one tensor's bytes lie, counted from the start of the file.
struct StoredRange {
  std::optional<StoredType> type;  // empty: a dtype that cannot be read
  int64_t offset_bytes = 0;
};

class SafetensorsFile : public TensorSource {
 public:
  // Errors name the file. InvalidArgument for a malformed file, DataLoss for a truncated one.
  static absl::StatusOr<std::unique_ptr<SafetensorsFile>> Open(const std::string& path);

  // The strings under "__metadata__".
  const std::map<std::string, std::string>& metadata() const { return metadata_; }

 protected:
  absl::Status ReadCheckedRows(const TensorInfo& info, int64_t first_row, int64_t rows, DType dtype,
                               absl::Span<std::byte> out) const override;

 private:
  explicit SafetensorsFile(MappedFile file) : file_(std::move(file)) {}
  absl::Status ReadHeader();

  MappedFile file_;
  std::vector<StoredRange> ranges_;  // parallel to tensors()
  std::map<std::string, std::string> metadata_;
};

}  // namespace trencadis::checkpoint

#endif  // TRENCADIS_MODELS_CHECKPOINT_SAFETENSORS_H_
