#include "runtime/base/fault_injecting_file_system.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "runtime/base/status.h"

namespace trencadis {

// Appends to a real file under its file system's faults.
class FaultInjectingFile : public WritableFile {
 public:
  FaultInjectingFile(FaultInjectingFileSystem& fs, std::unique_ptr<WritableFile> base,
                     std::string path)
      : fs_(fs), base_(std::move(base)), path_(std::move(path)) {}

  absl::Status Append(absl::Span<const std::byte> bytes) override {
    const absl::Status fault = fs_.Begin(FaultInjectingFileSystem::Operation::kAppend, path_);
    if (!fault.ok()) {
      TRENCADIS_RETURN_IF_ERROR(base_->Append(bytes.subspan(0, bytes.size() / 2)));
      return fault;
    }
    const int64_t size = static_cast<int64_t>(bytes.size());
    const int64_t fitting = std::min(size, fs_.free_bytes_);
    fs_.free_bytes_ -= fitting;
    TRENCADIS_RETURN_IF_ERROR(base_->Append(bytes.subspan(0, fitting)));
    return fitting == size ? absl::OkStatus() : ErrnoError(ENOSPC, "write", path_);
  }

  absl::Status Sync() override { return fs_.Sync(path_); }

  absl::Status Close() override {
    TRENCADIS_RETURN_IF_ERROR(fs_.Begin(FaultInjectingFileSystem::Operation::kClose, path_));
    return base_->Close();
  }

 private:
  FaultInjectingFileSystem& fs_;
  std::unique_ptr<WritableFile> base_;
  std::string path_;
};

void FaultInjectingFileSystem::Fail(Operation operation, int64_t index, int error_number) {
  faults_.push_back({operation, index, error_number, /*permanent=*/false});
}

void FaultInjectingFileSystem::FailEverythingFrom(int64_t index, int error_number) {
  faults_.push_back({Operation::kAny, index, error_number, /*permanent=*/true});
}

void FaultInjectingFileSystem::ClearFaults() {
  faults_.clear();
  free_bytes_ = std::numeric_limits<int64_t>::max();
}

absl::Status FaultInjectingFileSystem::Begin(Operation operation, const std::string& path) {
  ++total_operations_;
  absl::Status result;
  for (Fault& fault : faults_) {
    if (fault.operation != Operation::kAny && fault.operation != operation) continue;
    const bool fires = fault.permanent ? fault.index <= 0 : fault.index == 0;
    --fault.index;
    if (fires) result.Update(ErrnoError(fault.error_number, "(injected) change", path));
  }
  return result;
}

void FaultInjectingFileSystem::RecordUndo(const std::string& path, std::function<void()> action) {
  undo_log_.push_back({DirectoryOf(path), std::move(action)});
}

std::optional<std::string> FaultInjectingFileSystem::FileContents(const std::string& path) {
  absl::StatusOr<std::string> contents = base_.ReadFile(path);
  if (!contents.ok()) return std::nullopt;
  return *std::move(contents);
}

void FaultInjectingFileSystem::RestoreFile(const std::string& path,
                                           const std::optional<std::string>& contents) {
  if (!contents.has_value()) return;
  auto file = base_.OpenForWrite(path);
  TRENCADIS_CHECK(file.ok());
  TRENCADIS_CHECK((*file)->Append(*contents).ok());
}

void FaultInjectingFileSystem::MoveSyncedSizes(const std::string& from, const std::string& to) {
  std::map<std::string, int64_t> moved;
  for (const auto& [path, size] : synced_bytes_) {
    const bool inside = path == from || path.compare(0, from.size() + 1, from + "/") == 0;
    moved[inside ? to + path.substr(from.size()) : path] = size;
  }
  synced_bytes_ = std::move(moved);
}

void FaultInjectingFileSystem::CutPower() {
  ClearFaults();
  for (const auto& [path, synced_bytes] : synced_bytes_) {
    std::optional<std::string> contents = FileContents(path);
    if (!contents.has_value()) continue;
    contents->resize(std::min<size_t>(contents->size(), synced_bytes));
    RestoreFile(path, contents);
  }
  while (!undo_log_.empty()) {
    undo_log_.back().action();
    undo_log_.pop_back();
  }
  synced_bytes_.clear();
}

absl::StatusOr<std::string> FaultInjectingFileSystem::ReadFile(const std::string& path) {
  return base_.ReadFile(path);
}

absl::StatusOr<std::unique_ptr<WritableFile>> FaultInjectingFileSystem::OpenForWrite(
    const std::string& path) {
  TRENCADIS_RETURN_IF_ERROR(Begin(Operation::kOpen, path));
  const std::optional<std::string> old = FileContents(path);
  TRENCADIS_ASSIGN_OR_RETURN(std::unique_ptr<WritableFile> file, base_.OpenForWrite(path));
  RecordUndo(path, [this, path, old] {
    base_.Remove(path).IgnoreError();
    RestoreFile(path, old);
  });
  synced_bytes_[path] = 0;
  return std::make_unique<FaultInjectingFile>(*this, std::move(file), path);
}

absl::Status FaultInjectingFileSystem::Sync(const std::string& path) {
  TRENCADIS_RETURN_IF_ERROR(Begin(Operation::kSync, path));
  TRENCADIS_RETURN_IF_ERROR(base_.Sync(path));
  if (base_.IsDirectory(path)) {
    std::erase_if(undo_log_, [&](const Undo& undo) { return undo.directory == path; });
  } else if (synced_bytes_.contains(path)) {
    TRENCADIS_ASSIGN_OR_RETURN(synced_bytes_[path], base_.SizeBytes(path));
  }
  return absl::OkStatus();
}

absl::Status FaultInjectingFileSystem::Rename(const std::string& from, const std::string& to) {
  TRENCADIS_RETURN_IF_ERROR(Begin(Operation::kRename, to));
  const std::optional<std::string> overwritten = FileContents(to);
  TRENCADIS_RETURN_IF_ERROR(base_.Rename(from, to));
  MoveSyncedSizes(from, to);
  RecordUndo(to, [this, from, to, overwritten] {
    TRENCADIS_CHECK(base_.Rename(to, from).ok());
    RestoreFile(to, overwritten);
  });
  return absl::OkStatus();
}

absl::Status FaultInjectingFileSystem::Exchange(const std::string& a, const std::string& b) {
  TRENCADIS_RETURN_IF_ERROR(Begin(Operation::kRename, b));
  TRENCADIS_RETURN_IF_ERROR(base_.Exchange(a, b));
  MoveSyncedSizes(a, a + "\n");
  MoveSyncedSizes(b, a);
  MoveSyncedSizes(a + "\n", b);
  RecordUndo(b, [this, a, b] { TRENCADIS_CHECK(base_.Exchange(a, b).ok()); });
  return absl::OkStatus();
}

absl::Status FaultInjectingFileSystem::CreateDirectories(const std::string& path) {
  if (base_.IsDirectory(path)) return absl::OkStatus();
  const std::string parent = DirectoryOf(path);
  if (parent != path && parent != ".") TRENCADIS_RETURN_IF_ERROR(CreateDirectories(parent));
  TRENCADIS_RETURN_IF_ERROR(Begin(Operation::kCreateDirectory, path));
  TRENCADIS_RETURN_IF_ERROR(base_.CreateDirectories(path));
  RecordUndo(path, [this, path] { RemoveRecursively(path, base_).IgnoreError(); });
  return absl::OkStatus();
}

absl::Status FaultInjectingFileSystem::Remove(const std::string& path) {
  TRENCADIS_RETURN_IF_ERROR(Begin(Operation::kRemove, path));
  const bool is_directory = base_.IsDirectory(path);
  const std::optional<std::string> contents = FileContents(path);
  TRENCADIS_RETURN_IF_ERROR(base_.Remove(path));
  synced_bytes_.erase(path);
  RecordUndo(path, [this, path, is_directory, contents] {
    if (is_directory) base_.CreateDirectories(path).IgnoreError();
    RestoreFile(path, contents);
  });
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> FaultInjectingFileSystem::List(const std::string& path) {
  return base_.List(path);
}

bool FaultInjectingFileSystem::Exists(const std::string& path) { return base_.Exists(path); }

bool FaultInjectingFileSystem::IsDirectory(const std::string& path) {
  return base_.IsDirectory(path);
}

absl::StatusOr<int64_t> FaultInjectingFileSystem::SizeBytes(const std::string& path) {
  return base_.SizeBytes(path);
}

}  // namespace trencadis
