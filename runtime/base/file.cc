#include "runtime/base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"

namespace trencadis {
namespace {

absl::StatusCode CodeOf(int error_number) {
  switch (error_number) {
    case ENOENT:
      return absl::StatusCode::kNotFound;
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::StatusCode::kPermissionDenied;
    case EEXIST:
      return absl::StatusCode::kAlreadyExists;
    case ENOTDIR:
    case EISDIR:
    case ENOTEMPTY:
    case EBUSY:
    case EXDEV:
      return absl::StatusCode::kFailedPrecondition;
    case EINVAL:
    case ENAMETOOLONG:
    case ELOOP:
      return absl::StatusCode::kInvalidArgument;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EMFILE:
    case ENFILE:
      return absl::StatusCode::kUnavailable;
    case ENOSYS:
    case EOPNOTSUPP:
      return absl::StatusCode::kUnimplemented;
    default:
      return absl::StatusCode::kInternal;
  }
}

// Owns a file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

int Open(const std::string& path, int flags) {
  int fd;
  do {
    fd = open(path.c_str(), flags | O_CLOEXEC, 0666);
  } while (fd < 0 && errno == EINTR);
  return fd;
}

class RealWritableFile : public WritableFile {
 public:
  RealWritableFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}

  absl::Status Append(absl::Span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      const ssize_t written = write(fd_.get(), bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return ErrnoError(errno, "write", path_);
      bytes.remove_prefix(written);
    }
    return absl::OkStatus();
  }

  absl::Status Sync() override {
    if (fsync(fd_.get()) != 0) return ErrnoError(errno, "sync", path_);
    return absl::OkStatus();
  }

  absl::Status Close() override {
    // Linux has closed the descriptor even when close reports EINTR.
    if (close(fd_.Release()) != 0 && errno != EINTR) return ErrnoError(errno, "close", path_);
    return absl::OkStatus();
  }

 private:
  Descriptor fd_;
  std::string path_;
};

class PosixFileSystem : public FileSystem {
 public:
  absl::StatusOr<std::string> ReadFile(const std::string& path) override {
    Descriptor fd(Open(path, O_RDONLY));
    if (fd.get() < 0) return ErrnoError(errno, "open", path);
    struct stat info;
    if (fstat(fd.get(), &info) != 0) return ErrnoError(errno, "read", path);
    // The size is only a hint: files of /proc claim 0, and a file may grow meanwhile.
    std::string contents(std::max<int64_t>(info.st_size, 0) + 1, '\0');
    size_t size = 0;
    while (true) {
      const ssize_t count = read(fd.get(), contents.data() + size, contents.size() - size);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return ErrnoError(errno, "read", path);
      if (count == 0) break;
      size += count;
      if (size == contents.size()) contents.resize(2 * size + 4096);
    }
    contents.resize(size);
    return contents;
  }

  absl::StatusOr<std::unique_ptr<WritableFile>> OpenForWrite(const std::string& path) override {
    const int fd = Open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND);
    if (fd < 0) return ErrnoError(errno, "create", path);
    return std::make_unique<RealWritableFile>(fd, path);
  }

  absl::Status Sync(const std::string& path) override {
    Descriptor fd(Open(path, O_RDONLY));
    if (fd.get() < 0) return ErrnoError(errno, "open", path);
    if (fsync(fd.get()) != 0) return ErrnoError(errno, "sync", path);
    return absl::OkStatus();
  }

  absl::Status Rename(const std::string& from, const std::string& to) override {
    if (rename(from.c_str(), to.c_str()) == 0) return absl::OkStatus();
    return ErrnoError(errno, absl::StrCat("rename ", from, " to"), to);
  }

  absl::Status Exchange(const std::string& a, const std::string& b) override {
    if (renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0) {
      return absl::OkStatus();
    }
    // A file system without the operation, such as NFS, answers EINVAL.
    const int error_number = errno == EINVAL ? ENOSYS : errno;
    return ErrnoError(error_number, absl::StrCat("exchange ", a, " and"), b);
  }

  absl::Status CreateDirectories(const std::string& path) override {
    if (path.empty()) return ErrnoError(ENOENT, "create directory", path);
    for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
      const std::string prefix = path.substr(0, end);
      if (mkdir(prefix.c_str(), 0777) != 0) {
        const int error_number = errno;
        // An existing prefix may sit on a read-only file system, which is reported first.
        if (!IsDirectory(prefix)) {
          return ErrnoError(error_number == EEXIST ? ENOTDIR : error_number, "create directory",
                            prefix);
        }
      }
      if (end == std::string::npos) return absl::OkStatus();
    }
  }

  absl::Status Remove(const std::string& path) override {
    if (remove(path.c_str()) != 0) return ErrnoError(errno, "remove", path);
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<std::string>> List(const std::string& path) override {
    DIR* directory = opendir(path.c_str());
    if (directory == nullptr) return ErrnoError(errno, "list", path);
    std::vector<std::string> names;
    errno = 0;
    while (const dirent* entry = readdir(directory)) {
      const absl::string_view name = entry->d_name;
      if (name != "." && name != "..") names.emplace_back(name);
    }
    const int error_number = errno;
    closedir(directory);
    if (error_number != 0) return ErrnoError(error_number, "list", path);
    std::sort(names.begin(), names.end());
    return names;
  }

  bool Exists(const std::string& path) override {
    struct stat info;
    return lstat(path.c_str(), &info) == 0;
  }

  bool IsDirectory(const std::string& path) override {
    struct stat info;
    return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
  }

  absl::StatusOr<int64_t> SizeBytes(const std::string& path) override {
    struct stat info;
    if (stat(path.c_str(), &info) != 0) return ErrnoError(errno, "read the size of", path);
    return info.st_size;
  }
};

}  // namespace

FileSystem& RealFileSystem() {
  static FileSystem* file_system = new PosixFileSystem;
  return *file_system;
}

absl::Status RemoveRecursively(const std::string& path, FileSystem& fs) {
  if (!fs.Exists(path)) return absl::OkStatus();
  // A link to a directory is removed, not followed: removing it fails only for real directories.
  const absl::Status removed = fs.Remove(path);
  if (removed.ok() || !fs.IsDirectory(path)) return removed;
  TRENCADIS_ASSIGN_OR_RETURN(const std::vector<std::string> names, fs.List(path));
  for (const std::string& name : names) {
    TRENCADIS_RETURN_IF_ERROR(RemoveRecursively(JoinPath(path, name), fs));
  }
  return fs.Remove(path);
}

absl::Status SyncRecursively(const std::string& path, FileSystem& fs) {
  if (fs.IsDirectory(path)) {
    TRENCADIS_ASSIGN_OR_RETURN(const std::vector<std::string> names, fs.List(path));
    for (const std::string& name : names) {
      TRENCADIS_RETURN_IF_ERROR(SyncRecursively(JoinPath(path, name), fs));
    }
  }
  return fs.Sync(path);
}

std::string JoinPath(absl::string_view directory, absl::string_view name) {
  if (directory.empty()) return std::string(name);
  return absl::StrCat(directory, directory.back() == '/' ? "" : "/", name);
}

std::string DirectoryOf(absl::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash == absl::string_view::npos) return ".";
  return std::string(path.substr(0, std::max<size_t>(slash, 1)));
}

absl::Status ErrnoError(int error_number, absl::string_view action, absl::string_view path) {
  return absl::Status(CodeOf(error_number), absl::StrCat("cannot ", action, " ", path, ": ",
                                                         std::strerror(error_number)));
}

}  // namespace trencadis
