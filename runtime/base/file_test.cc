#include "runtime/base/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "runtime/base/mapped_file.h"

namespace trencadis {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class FileTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = JoinPath(testing::TempDir(), "file_test");
    ASSERT_TRUE(RemoveRecursively(root_).ok());
    ASSERT_TRUE(fs_.CreateDirectories(root_).ok());
  }
  std::string Path(absl::string_view name) const { return JoinPath(root_, name); }
  void Write(const std::string& path, absl::string_view contents) {
    auto file = fs_.OpenForWrite(path);
    ASSERT_TRUE(file.ok()) << file.status();
    ASSERT_TRUE((*file)->Append(contents).ok());
    ASSERT_TRUE((*file)->Sync().ok());
    ASSERT_TRUE((*file)->Close().ok());
  }

  FileSystem& fs_ = RealFileSystem();
  std::string root_;
};

TEST_F(FileTest, WritesAndReadsBack) {
  std::string contents(300000, 'x');
  contents[1] = '\0';
  Write(Path("a"), contents);
  EXPECT_EQ(*fs_.ReadFile(Path("a")), contents);
  EXPECT_EQ(*fs_.SizeBytes(Path("a")), 300000);
  Write(Path("a"), "short");
  EXPECT_EQ(*fs_.ReadFile(Path("a")), "short");
}

TEST_F(FileTest, ReadsFilesWhoseSizeIsUnknown) {
  EXPECT_THAT(*fs_.ReadFile("/proc/self/status"), HasSubstr("VmHWM"));
}

TEST_F(FileTest, CreatesListsRenamesAndRemovesDirectories) {
  ASSERT_TRUE(fs_.CreateDirectories(Path("d/e/f")).ok());
  ASSERT_TRUE(fs_.CreateDirectories(Path("d/e/f")).ok());
  Write(Path("d/b"), "");
  Write(Path("d/a"), "");
  EXPECT_THAT(*fs_.List(Path("d")), ElementsAre("a", "b", "e"));
  ASSERT_TRUE(fs_.Rename(Path("d"), Path("g")).ok());
  EXPECT_FALSE(fs_.Exists(Path("d")));
  EXPECT_TRUE(fs_.IsDirectory(Path("g/e/f")));
  EXPECT_FALSE(fs_.IsDirectory(Path("g/a")));
  ASSERT_TRUE(RemoveRecursively(Path("g")).ok());
  EXPECT_FALSE(fs_.Exists(Path("g")));
  EXPECT_TRUE(RemoveRecursively(Path("g")).ok());
}

TEST_F(FileTest, RemovingATreeDoesNotFollowLinks) {
  ASSERT_TRUE(fs_.CreateDirectories(Path("kept")).ok());
  Write(Path("kept/file"), "kept");
  ASSERT_TRUE(fs_.CreateDirectories(Path("tree")).ok());
  ASSERT_EQ(symlink(Path("kept").c_str(), Path("tree/link").c_str()), 0);
  ASSERT_TRUE(RemoveRecursively(Path("tree")).ok());
  EXPECT_EQ(*fs_.ReadFile(Path("kept/file")), "kept");
}

TEST_F(FileTest, ExchangeSwapsNames) {
  ASSERT_TRUE(fs_.CreateDirectories(Path("a")).ok());
  ASSERT_TRUE(fs_.CreateDirectories(Path("b")).ok());
  Write(Path("a/only_a"), "");
  const absl::Status status = fs_.Exchange(Path("a"), Path("b"));
  if (absl::IsUnimplemented(status)) GTEST_SKIP() << status;
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_TRUE(fs_.Exists(Path("b/only_a")));
  EXPECT_FALSE(fs_.Exists(Path("a/only_a")));
}

TEST_F(FileTest, ErrorsNameOperationPathAndReason) {
  const absl::Status missing = fs_.ReadFile(Path("none")).status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(missing.message(), "cannot open " + Path("none") + ": No such file or directory");
  EXPECT_EQ(fs_.OpenForWrite(Path("none/a")).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(fs_.ReadFile(root_).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(fs_.List(Path("none")).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(fs_.SizeBytes(Path("none")).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(fs_.Remove(Path("none")).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(fs_.Rename(Path("none"), Path("x")).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(fs_.CreateDirectories("").code(), absl::StatusCode::kNotFound);
  Write(Path("file"), "");
  EXPECT_EQ(fs_.CreateDirectories(Path("file/d")).code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(FileTest, FullDiskIsUnavailable) {
  if (!fs_.Exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  auto file = fs_.OpenForWrite("/dev/full");
  if (!file.ok()) GTEST_SKIP() << file.status();
  const absl::Status status = (*file)->Append("x");
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(status.message(), HasSubstr("No space left on device"));
}

TEST_F(FileTest, PermissionIsReported) {
  EXPECT_EQ(ErrnoError(EACCES, "open", "/x").code(), absl::StatusCode::kPermissionDenied);
  if (geteuid() == 0) GTEST_SKIP() << "root may do everything";
  ASSERT_EQ(chmod(root_.c_str(), 0555), 0);
  EXPECT_EQ(fs_.OpenForWrite(Path("a")).status().code(), absl::StatusCode::kPermissionDenied);
  ASSERT_EQ(chmod(root_.c_str(), 0755), 0);
}

TEST(PathTest, JoinsAndSplits) {
  EXPECT_EQ(JoinPath("a", "b"), "a/b");
  EXPECT_EQ(JoinPath("a/", "b"), "a/b");
  EXPECT_EQ(JoinPath("", "b"), "b");
  EXPECT_EQ(JoinPath("/", "b"), "/b");
  EXPECT_EQ(DirectoryOf("a/b"), "a");
  EXPECT_EQ(DirectoryOf("b"), ".");
  EXPECT_EQ(DirectoryOf("/b"), "/");
  EXPECT_EQ(DirectoryOf("/a/b"), "/a");
}

TEST_F(FileTest, MapsFiles) {
  Write(Path("a"), "contents");
  auto mapped = MappedFile::Open(Path("a"));
  ASSERT_TRUE(mapped.ok()) << mapped.status();
  EXPECT_EQ(mapped->text(), "contents");
  EXPECT_EQ(reinterpret_cast<uintptr_t>(mapped->bytes().data()) % 4096, 0);
  MappedFile moved = *std::move(mapped);
  ASSERT_TRUE(fs_.Remove(Path("a")).ok());
  EXPECT_EQ(moved.text(), "contents");
  Write(Path("empty"), "");
  EXPECT_EQ(MappedFile::Open(Path("empty"))->bytes().size(), 0);
}

TEST_F(FileTest, MapsRegularFilesOnly) {
  EXPECT_EQ(MappedFile::Open(Path("none")).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(MappedFile::Open(root_).status().code(), absl::StatusCode::kFailedPrecondition);
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(MappedFile::Open(Path("pipe")).status().code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace trencadis
