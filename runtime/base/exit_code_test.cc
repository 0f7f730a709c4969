#include "runtime/base/exit_code.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "runtime/base/file.h"

namespace trencadis {
namespace {

TEST(ExitCodeTest, CodesAreTheDocumentedNumbers) {
  EXPECT_EQ(ExitCodeFor(absl::OkStatus()), 0);
  EXPECT_EQ(ExitCodeFor(absl::InternalError("x")), 1);
  EXPECT_EQ(ExitCodeFor(absl::UnavailableError("x")), 1);
  EXPECT_EQ(ExitCodeFor(absl::InvalidArgumentError("x")), 2);
  EXPECT_EQ(ExitCodeFor(absl::NotFoundError("x")), 2);
  EXPECT_EQ(ExitCodeFor(absl::FailedPreconditionError("x")), 2);
  EXPECT_EQ(ExitCodeFor(absl::UnimplementedError("x")), 2);
  EXPECT_EQ(ExitCodeFor(absl::ResourceExhaustedError("x")), 3);
  EXPECT_EQ(ExitCodeFor(absl::CancelledError("x")), 130);
}

TEST(ExitCodeTest, AFullDiskIsNotAFullDevice) {
  EXPECT_EQ(ExitCodeFor(ErrnoError(ENOSPC, "write", "/x")), kExitError);
  EXPECT_EQ(ExitCodeFor(ErrnoError(ENOENT, "open", "/x")), kExitWrongInput);
}

}  // namespace
}  // namespace trencadis
