#include "base/folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
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

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class UserFolderTest : public ::testing::Test {
 protected:
  UserFolderTest() {
    std::string pattern = ::testing::TempDir() + "/parent.XXXXXX";
    parent_ = mkdtemp(pattern.data());
    first_ = parent_ + "/muster_" + std::to_string(geteuid());
  }

  static mode_t Mode(const std::string& path) {
    struct stat info = {};
    EXPECT_EQ(lstat(path.c_str(), &info), 0) << path;
    return info.st_mode & 07777u;
  }

  std::string parent_, first_;
};

TEST_F(UserFolderTest, IsMadeForTheUserAlone) {
  EXPECT_THAT(UserFolders(parent_), IsEmpty());
  EXPECT_EQ(MakeUserFolder(parent_).value(), first_);
  EXPECT_EQ(Mode(first_), 0700u);
  EXPECT_EQ(MakeUserFolder(parent_).value(), first_);
  EXPECT_THAT(UserFolders(parent_), ElementsAre(first_));
}

// The user's jobs can run even if the folder's name is already used by a file,
// by a link, or by a folder that others can write.
TEST_F(UserFolderTest, ATakenNameGivesAnotherFolderThatLaterCallsFind) {
  for (const auto& take : std::vector<void (*)(const std::string&)>{
           [](const std::string& path) { std::ofstream(path) << "1"; },
           [](const std::string& path) {
             ASSERT_EQ(symlink("/etc", path.c_str()), 0);
           },
           [](const std::string& path) {
             ASSERT_EQ(mkdir(path.c_str(), 0700), 0);
             ASSERT_EQ(chmod(path.c_str(), 0777), 0);
           }}) {
    ASSERT_TRUE(remove(first_.c_str()) == 0 || errno == ENOENT);
    take(first_);
    const std::string other = MakeUserFolder(parent_).value();
    EXPECT_THAT(other, StartsWith(first_ + "_"));
    EXPECT_EQ(Mode(other), 0700u);
    EXPECT_EQ(MakeUserFolder(parent_).value(), other);
    EXPECT_THAT(UserFolders(parent_), ElementsAre(other));
  }
}

TEST_F(UserFolderTest, AnotherUsersFolderDoesNotCount) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  ASSERT_EQ(mkdir(first_.c_str(), 0700), 0);
  ASSERT_EQ(chown(first_.c_str(), 65534, 65534), 0);
  const std::string foreign = first_ + "_aaaaaa";
  ASSERT_EQ(mkdir(foreign.c_str(), 0700), 0);
  ASSERT_EQ(chown(foreign.c_str(), 65534, 65534), 0);
  const std::string own = MakeUserFolder(parent_).value();
  EXPECT_NE(own, foreign);
  EXPECT_THAT(UserFolders(parent_), ElementsAre(own));
}

TEST_F(UserFolderTest, ReportsAParentThatIsMissing) {
  EXPECT_FALSE(MakeUserFolder(parent_ + "/missing").ok());
  EXPECT_THAT(UserFolders(parent_ + "/missing"), IsEmpty());
}

}  // namespace
}  // namespace muster
