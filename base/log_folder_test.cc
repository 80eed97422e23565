#include "base/log_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

namespace muster {
namespace {

using ::testing::HasSubstr;

class LogFolderTest : public ::testing::Test {
 protected:
  LogFolderTest() {
    std::string name = ::testing::TempDir() + "/folder-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~LogFolderTest() override { std::filesystem::remove_all(folder_); }

  std::string folder_;
};

TEST_F(LogFolderTest, MakesTheWholePathAndLeavesNothingInIt) {
  std::string path = folder_ + "/a/b/c";
  EXPECT_TRUE(CheckFolderWritable(path).ok());
  EXPECT_TRUE(CheckFolderWritable(path).ok());
  EXPECT_TRUE(std::filesystem::is_directory(path));
  EXPECT_TRUE(std::filesystem::is_empty(path));
}

TEST_F(LogFolderTest, AFileInTheWayIsNamed) {
  std::ofstream(folder_ + "/file") << "x";
  for (const char* name : {"/file", "/file/below"}) {
    absl::Status status = CheckFolderWritable(folder_ + name);
    EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
    EXPECT_THAT(std::string(status.message()), HasSubstr(folder_ + "/file"));
    EXPECT_THAT(std::string(status.message()), HasSubstr("Not a directory"));
  }
}

TEST_F(LogFolderTest, ErrnoDecidesTheCode) {
  auto code = [](int error) { return PathStatus("do", "/p", error).code(); };
  EXPECT_EQ(code(EROFS), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(code(EACCES), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(code(ENOSPC), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(code(EDQUOT), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(code(EIO), absl::StatusCode::kInternal);
  EXPECT_EQ(PathStatus("cannot open", "/p", ENOSPC).message(),
            "cannot open /p: No space left on device");
}

TEST_F(LogFolderTest, AFullFileSystemIsFound) {
  if (mount("none", folder_.c_str(), "tmpfs", 0, "size=64k") != 0) {
    GTEST_SKIP() << "mounting a tmpfs needs root";
  }
  std::ofstream(folder_ + "/filler") << std::string(128 << 10, 'x');
  absl::Status full = CheckFolderWritable(folder_ + "/run");
  bool read_only = mount("none", folder_.c_str(), "tmpfs",
                         MS_REMOUNT | MS_RDONLY, "size=64k") == 0;
  absl::Status denied = CheckFolderWritable(folder_ + "/other");
  umount2(folder_.c_str(), MNT_DETACH);
  EXPECT_EQ(full.code(), absl::StatusCode::kResourceExhausted) << full;
  EXPECT_THAT(std::string(full.message()), HasSubstr("No space left"));
  if (!read_only) GTEST_SKIP() << "remounting was not allowed";
  EXPECT_EQ(denied.code(), absl::StatusCode::kPermissionDenied) << denied;
  EXPECT_THAT(std::string(denied.message()), HasSubstr("Read-only"));
}

}  // namespace
}  // namespace muster
