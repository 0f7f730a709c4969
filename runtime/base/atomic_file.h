// Files and directories that appear whole or not at all, whatever fails and whenever the power
// goes.
//
// Each writes beside its final place under a temporary name that contains kTemporaryMark, syncs,
// and renames. A process that is killed leaves such a name behind; nothing reads it, and
// RemoveTemporaries clears it away. Used by one thread at a time.
#ifndef TRENCADIS_RUNTIME_BASE_ATOMIC_FILE_H_
#define TRENCADIS_RUNTIME_BASE_ATOMIC_FILE_H_

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/base/file.h"

namespace trencadis {

inline constexpr absl::string_view kTemporaryMark = ".tmp-";

// Replaces `path` by a file with these contents. On error the old file is in place, except that
// after a failed sync of the directory either may be.
absl::Status WriteFileAtomically(const std::string& path, absl::string_view contents,
                                 FileSystem& fs = RealFileSystem());

// The same for a file written piece by piece. Destroying it before Commit discards what was
// written.
class AtomicFileWriter {
 public:
  static absl::StatusOr<AtomicFileWriter> Create(const std::string& path,
                                                 FileSystem& fs = RealFileSystem());
  AtomicFileWriter(AtomicFileWriter&&) = default;
  AtomicFileWriter& operator=(AtomicFileWriter&&) = delete;
  ~AtomicFileWriter();

  // An error is final: Commit returns it again.
  absl::Status Append(absl::Span<const std::byte> bytes);
  absl::Status Append(absl::string_view text);
  // Makes the file appear at its path. Call once, last.
  absl::Status Commit();

 private:
  AtomicFileWriter(std::string path, std::string temporary_path, std::unique_ptr<WritableFile> file,
                   FileSystem& fs);

  std::string path_;
  std::string temporary_path_;
  std::unique_ptr<WritableFile> file_;  // null once committed, discarded or moved from
  FileSystem* fs_;
  absl::Status status_;
};

// A directory filled under a temporary name. Destroying it before Commit discards it.
class AtomicDirectory {
 public:
  static absl::StatusOr<AtomicDirectory> Create(const std::string& path,
                                                FileSystem& fs = RealFileSystem());
  AtomicDirectory(AtomicDirectory&& other) noexcept
      : path_(std::move(other.path_)),
        temporary_path_(std::exchange(other.temporary_path_, "")),
        fs_(other.fs_) {}
  AtomicDirectory& operator=(AtomicDirectory&&) = delete;
  ~AtomicDirectory();

  // Where to put the files until Commit. Plain writes do: Commit syncs them all.
  const std::string& temporary_path() const { return temporary_path_; }
  // Makes the directory appear at its path. A directory that is there already is exchanged for the
  // new one atomically and then removed. Call once, last.
  absl::Status Commit();

 private:
  AtomicDirectory(std::string path, std::string temporary_path, FileSystem& fs)
      : path_(std::move(path)), temporary_path_(std::move(temporary_path)), fs_(&fs) {}

  std::string path_;
  std::string temporary_path_;  // empty once committed or moved from
  FileSystem* fs_;
};

// Removes what interrupted writers left in `directory`. Only while no writer works there.
absl::Status RemoveTemporaries(const std::string& directory, FileSystem& fs = RealFileSystem());

}  // namespace trencadis

#endif  // TRENCADIS_RUNTIME_BASE_ATOMIC_FILE_H_
