// For tests: a file system over real files on which any operation can fail, the disk can fill up,
// and the power can go.
//
// A power cut undoes everything that was not synced: bytes appended since the file's last sync, and
// names created, renamed, exchanged or removed since their directory's last sync. That is the worst
// that POSIX allows. Only paths used through this object are tracked. Not thread-safe.
#ifndef TRENCADIS_RUNTIME_BASE_FAULT_INJECTING_FILE_SYSTEM_H_
#define TRENCADIS_RUNTIME_BASE_FAULT_INJECTING_FILE_SYSTEM_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/file.h"

namespace trencadis {

class FaultInjectingFileSystem : public FileSystem {
 public:
  // What can be made to fail. kAppend, kSync, ... also count as kAny.
  enum class Operation { kAny, kOpen, kAppend, kSync, kClose, kRename, kCreateDirectory, kRemove };

  explicit FaultInjectingFileSystem(FileSystem& base = RealFileSystem()) : base_(base) {}

  // Fails the `index`-th `operation` from now (0 is the next) with the error of `error_number`. A
  // failing append first appends half of its bytes.
  void Fail(Operation operation, int64_t index, int error_number);
  // Fails the `index`-th operation of any kind from now, and every one after it.
  void FailEverythingFrom(int64_t index, int error_number);
  // Lets appends succeed for this many bytes in all from now, then fail with "No space left".
  void SetFreeBytes(int64_t free_bytes) { free_bytes_ = free_bytes; }
  // Clears all faults set before.
  void ClearFaults();
  // Changing operations seen so far, failed ones included.
  int64_t operations() const { return total_operations_; }

  // Undoes what was not synced, as a power cut would, and clears all faults. Files still open must
  // not be written afterwards.
  void CutPower();

  absl::StatusOr<std::string> ReadFile(const std::string& path) override;
  absl::StatusOr<std::unique_ptr<WritableFile>> OpenForWrite(const std::string& path) override;
  absl::Status Sync(const std::string& path) override;
  absl::Status Rename(const std::string& from, const std::string& to) override;
  absl::Status Exchange(const std::string& a, const std::string& b) override;
  absl::Status CreateDirectories(const std::string& path) override;
  absl::Status Remove(const std::string& path) override;
  absl::StatusOr<std::vector<std::string>> List(const std::string& path) override;
  bool Exists(const std::string& path) override;
  bool IsDirectory(const std::string& path) override;
  absl::StatusOr<int64_t> SizeBytes(const std::string& path) override;

 private:
  friend class FaultInjectingFile;

  struct Fault {
    Operation operation;
    int64_t index;  // counts down to 0
    int error_number;
    bool permanent;
  };
  // How to take back a change of `directory`'s entries.
  struct Undo {
    std::string directory;
    std::function<void()> action;
  };

  // Counts one operation on `path` and returns the error it is to meet, if any.
  absl::Status Begin(Operation operation, const std::string& path);
  void RecordUndo(const std::string& path, std::function<void()> action);
  // What is at `path`: a file's bytes, or nothing.
  std::optional<std::string> FileContents(const std::string& path);
  void RestoreFile(const std::string& path, const std::optional<std::string>& contents);
  void MoveSyncedSizes(const std::string& from, const std::string& to);

  FileSystem& base_;
  std::vector<Fault> faults_;
  std::vector<Undo> undo_log_;
  std::map<std::string, int64_t> synced_bytes_;  // by path, of files written here
  int64_t free_bytes_ = std::numeric_limits<int64_t>::max();
  int64_t total_operations_ = 0;
};

}  // namespace trencadis

#endif  // TRENCADIS_RUNTIME_BASE_FAULT_INJECTING_FILE_SYSTEM_H_
