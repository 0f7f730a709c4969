// A file mapped into memory, read-only: pages come from disk as they are touched and are shared
// with every process that maps the file.
//
// The file must not be truncated while it is mapped (the process would be killed by SIGBUS);
// replacing it by a rename is fine. Immutable after opening, so thread-safe.
#ifndef TRENCADIS_RUNTIME_BASE_MAPPED_FILE_H_
#define TRENCADIS_RUNTIME_BASE_MAPPED_FILE_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace trencadis {

class MappedFile {
 public:
  // Errors as in file.h; FailedPrecondition for anything but a regular file.
  static absl::StatusOr<MappedFile> Open(const std::string& path);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  // Valid as long as this object, wherever it is moved. Page-aligned.
  absl::Span<const std::byte> bytes() const { return bytes_; }
  absl::string_view text() const {
    return absl::string_view(reinterpret_cast<const char*>(bytes_.data()), bytes_.size());
  }

 private:
  explicit MappedFile(absl::Span<const std::byte> bytes) : bytes_(bytes) {}

  absl::Span<const std::byte> bytes_;
};

}  // namespace trencadis

#endif  // TRENCADIS_RUNTIME_BASE_MAPPED_FILE_H_
