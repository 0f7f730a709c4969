// Files: a small interface over what the operating system offers, so that tests can make each
// operation fail.
//
// Errors name the operation, the path and the system's reason. Their codes: NotFound (no such
// file), PermissionDenied (also a read-only file system), AlreadyExists, FailedPrecondition (wrong
// kind of file, directory not empty), InvalidArgument (bad path), Unavailable (disk full, quota,
// too many open files), Unimplemented, and Internal for the rest. Implementations are thread-safe
// as far as callers work on different paths.
#ifndef TRENCADIS_RUNTIME_BASE_FILE_H_
#define TRENCADIS_RUNTIME_BASE_FILE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace trencadis {

// A file open for appending. Used by one thread at a time. Destroying it closes it; only Close says
// whether that succeeded.
class WritableFile {
 public:
  virtual ~WritableFile() = default;
  // Appends all of `bytes`, or fails having appended any part of them.
  virtual absl::Status Append(absl::Span<const std::byte> bytes) = 0;
  absl::Status Append(absl::string_view text) {
    return Append(
        absl::MakeConstSpan(reinterpret_cast<const std::byte*>(text.data()), text.size()));
  }
  // Returns once what was appended would survive a power cut.
  virtual absl::Status Sync() = 0;
  // Call at most once, last.
  virtual absl::Status Close() = 0;
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;

  virtual absl::StatusOr<std::string> ReadFile(const std::string& path) = 0;
  // Opens `path` for appending, creating it if needed and discarding what it held.
  virtual absl::StatusOr<std::unique_ptr<WritableFile>> OpenForWrite(const std::string& path) = 0;
  // Makes a file's bytes, or a directory's entries, survive a power cut.
  virtual absl::Status Sync(const std::string& path) = 0;
  // Atomically gives `from` the name `to`, in place of a file or empty directory of that name.
  virtual absl::Status Rename(const std::string& from, const std::string& to) = 0;
  // Atomically swaps two names. Unimplemented where the file system cannot.
  virtual absl::Status Exchange(const std::string& a, const std::string& b) = 0;
  // Creates the directory and its missing parents; OK when it exists.
  virtual absl::Status CreateDirectories(const std::string& path) = 0;
  // Removes a file or an empty directory.
  virtual absl::Status Remove(const std::string& path) = 0;
  // The names (not paths) in a directory, sorted.
  virtual absl::StatusOr<std::vector<std::string>> List(const std::string& path) = 0;
  virtual bool Exists(const std::string& path) = 0;
  virtual bool IsDirectory(const std::string& path) = 0;
  virtual absl::StatusOr<int64_t> SizeBytes(const std::string& path) = 0;
};

// The operating system's.
FileSystem& RealFileSystem();

// Removes a file or a directory with all it holds; OK when there is nothing.
absl::Status RemoveRecursively(const std::string& path, FileSystem& fs = RealFileSystem());
// Syncs each file and directory at and below `path`.
absl::Status SyncRecursively(const std::string& path, FileSystem& fs = RealFileSystem());

// "a/b" from "a" (with or without a final slash) and "b"; "b" when "a" is empty.
std::string JoinPath(absl::string_view directory, absl::string_view name);
// "a" of "a/b", "." of "b", "/" of "/b".
std::string DirectoryOf(absl::string_view path);

// The error for the system's error number, e.g. "cannot open /x/y: Permission denied".
absl::Status ErrnoError(int error_number, absl::string_view action, absl::string_view path);

}  // namespace trencadis

#endif  // TRENCADIS_RUNTIME_BASE_FILE_H_
