#include "runtime/base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "runtime/base/file.h"

namespace trencadis {

absl::StatusOr<MappedFile> MappedFile::Open(const std::string& path) {
  // Without O_NONBLOCK, opening a named pipe would wait for a writer.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return ErrnoError(errno, "open", path);
  absl::StatusOr<MappedFile> result(absl::UnknownError(""));
  struct stat info;
  if (fstat(fd, &info) != 0) {
    result = ErrnoError(errno, "map", path);
  } else if (!S_ISREG(info.st_mode)) {
    result = absl::FailedPreconditionError("cannot map " + path + ": not a regular file");
  } else if (info.st_size == 0) {
    result = MappedFile(absl::Span<const std::byte>());  // mmap refuses a length of 0.
  } else {
    void* address = mmap(nullptr, info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (address == MAP_FAILED) {
      result = ErrnoError(errno, "map", path);
    } else {
      result =
          MappedFile(absl::MakeConstSpan(static_cast<const std::byte*>(address), info.st_size));
    }
  }
  close(fd);
  return result;
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace trencadis
