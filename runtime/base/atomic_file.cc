#include "runtime/base/atomic_file.h"

#include <unistd.h>

#include <atomic>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"

namespace trencadis {
namespace {

// Unique among the processes of this machine and the threads of this process.
std::string TemporaryPath(absl::string_view path) {
  static std::atomic<int> counter{0};
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  return absl::StrCat(path, kTemporaryMark, getpid(), "-", counter.fetch_add(1));
}

}  // namespace

absl::Status WriteFileAtomically(const std::string& path, absl::string_view contents,
                                 FileSystem& fs) {
  TRENCADIS_ASSIGN_OR_RETURN(AtomicFileWriter writer, AtomicFileWriter::Create(path, fs));
  TRENCADIS_RETURN_IF_ERROR(writer.Append(contents));
  return writer.Commit();
}

AtomicFileWriter::AtomicFileWriter(std::string path, std::string temporary_path,
                                   std::unique_ptr<WritableFile> file, FileSystem& fs)
    : path_(std::move(path)),
      temporary_path_(std::move(temporary_path)),
      file_(std::move(file)),
      fs_(&fs) {}

absl::StatusOr<AtomicFileWriter> AtomicFileWriter::Create(const std::string& path, FileSystem& fs) {
  std::string temporary_path = TemporaryPath(path);
  TRENCADIS_ASSIGN_OR_RETURN(std::unique_ptr<WritableFile> file, fs.OpenForWrite(temporary_path));
  return AtomicFileWriter(path, std::move(temporary_path), std::move(file), fs);
}

AtomicFileWriter::~AtomicFileWriter() {
  if (file_ == nullptr) return;
  file_.reset();
  // What cannot be removed is left for RemoveTemporaries.
  fs_->Remove(temporary_path_).IgnoreError();
}

absl::Status AtomicFileWriter::Append(absl::Span<const std::byte> bytes) {
  if (status_.ok()) status_ = file_->Append(bytes);
  return status_;
}

absl::Status AtomicFileWriter::Append(absl::string_view text) {
  return Append(absl::MakeConstSpan(reinterpret_cast<const std::byte*>(text.data()), text.size()));
}

absl::Status AtomicFileWriter::Commit() {
  TRENCADIS_RETURN_IF_ERROR(status_);
  TRENCADIS_RETURN_IF_ERROR(file_->Sync());
  TRENCADIS_RETURN_IF_ERROR(file_->Close());
  TRENCADIS_RETURN_IF_ERROR(fs_->Rename(temporary_path_, path_));
  file_.reset();
  return fs_->Sync(DirectoryOf(path_));
}

absl::StatusOr<AtomicDirectory> AtomicDirectory::Create(const std::string& path, FileSystem& fs) {
  std::string temporary_path = TemporaryPath(path);
  // Of a process with the same number that was killed.
  TRENCADIS_RETURN_IF_ERROR(RemoveRecursively(temporary_path, fs));
  TRENCADIS_RETURN_IF_ERROR(fs.CreateDirectories(temporary_path));
  return AtomicDirectory(path, std::move(temporary_path), fs);
}

AtomicDirectory::~AtomicDirectory() {
  if (temporary_path_.empty()) return;
  RemoveRecursively(temporary_path_, *fs_).IgnoreError();
}

absl::Status AtomicDirectory::Commit() {
  TRENCADIS_RETURN_IF_ERROR(SyncRecursively(temporary_path_, *fs_));
  const std::string parent = DirectoryOf(temporary_path_);
  if (!fs_->Exists(path_)) {
    TRENCADIS_RETURN_IF_ERROR(fs_->Rename(temporary_path_, path_));
    temporary_path_.clear();
    return fs_->Sync(parent);
  }
  TRENCADIS_RETURN_IF_ERROR(
      Annotate(fs_->Exchange(temporary_path_, path_),
               absl::StrCat("cannot replace ", path_, "; remove it or choose another directory")));
  TRENCADIS_RETURN_IF_ERROR(fs_->Sync(parent));
  return RemoveRecursively(std::exchange(temporary_path_, ""), *fs_);
}

absl::Status RemoveTemporaries(const std::string& directory, FileSystem& fs) {
  TRENCADIS_ASSIGN_OR_RETURN(const std::vector<std::string> names, fs.List(directory));
  for (const std::string& name : names) {
    if (!absl::StrContains(name, kTemporaryMark)) continue;
    TRENCADIS_RETURN_IF_ERROR(RemoveRecursively(JoinPath(directory, name), fs));
  }
  return absl::OkStatus();
}

}  // namespace trencadis
