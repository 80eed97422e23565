#include "base/file_below.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace muster {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int kAppend = O_WRONLY | O_CREAT | O_APPEND;
constexpr uid_t kStranger = 65534;

class FileBelowTest : public ::testing::Test {
 protected:
  FileBelowTest() {
    std::string pattern = ::testing::TempDir() + "/below.XXXXXX";
    base_ = mkdtemp(pattern.data());
    root_ = base_ + "/logs";
    fs::create_directory(root_);
    std::ofstream(base_ + "/victim") << "old";
    fs::create_directory(base_ + "/elsewhere");
  }

  absl::Status Append(const std::string& path) {
    const auto file = OpenFileBelow(root_, path, kAppend, 0600);
    if (!file.ok()) return file.status();
    return write(file->get(), "new", 3) == 3 ? absl::OkStatus()
                                             : absl::InternalError("write");
  }
  std::string Victim() {
    std::ifstream file(base_ + "/victim");
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // Gives a file, folder or link to another user.
  void GiveAway(const std::string& path) {
    ASSERT_EQ(lchown(path.c_str(), kStranger, kStranger), 0);
  }

  std::string base_, root_;
};

TEST_F(FileBelowTest, CreatesFileAndFolders) {
  fs::remove(root_);
  ASSERT_TRUE(Append(root_ + "/run/attempt_0/3/stdout.log").ok());
  ASSERT_TRUE(Append(root_ + "//run/./attempt_0/3/stdout.log").ok());
  EXPECT_EQ(fs::file_size(root_ + "/run/attempt_0/3/stdout.log"), 6u);
  EXPECT_TRUE(OpenFolderBelow(root_, root_ + "/run/attempt_1").ok());
  EXPECT_TRUE(fs::is_directory(root_ + "/run/attempt_1"));
  EXPECT_TRUE(OpenFolderBelow(root_, root_).ok());
}

TEST_F(FileBelowTest, LinksAboveAndOfThisUserAreFollowed) {
  fs::create_directory_symlink(root_, base_ + "/link");
  root_ = base_ + "/link";
  fs::create_directory_symlink("../elsewhere", root_ + "/run");
  ASSERT_TRUE(Append(root_ + "/run/file").ok());
  EXPECT_TRUE(fs::exists(base_ + "/elsewhere/file"));
  fs::create_symlink(base_ + "/victim", root_ + "/own");
  ASSERT_TRUE(Append(root_ + "/own").ok());
  EXPECT_EQ(Victim(), "oldnew");
  // A link that leads to another link must be followed too, as /dev/stdout is.
  fs::create_symlink("own", root_ + "/own2");
  ASSERT_TRUE(Append(root_ + "/own2").ok());
}

TEST_F(FileBelowTest, WhatIsNoFolderIsSaid) {
  std::ofstream(root_ + "/file") << "1";
  EXPECT_THAT(std::string(Append(root_ + "/file/x").message()),
              HasSubstr("Not a directory"));
  EXPECT_FALSE(Append(root_).ok());
}

TEST_F(FileBelowTest, ALinkOfAnotherUserIsNotFollowed) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make another user's link";
  fs::create_symlink(base_ + "/victim", root_ + "/file");
  GiveAway(root_ + "/file");
  const absl::Status file = Append(root_ + "/file");
  EXPECT_TRUE(absl::IsPermissionDenied(file));
  EXPECT_THAT(std::string(file.message()),
              AllOf(HasSubstr(root_ + "/file"), HasSubstr("symbolic link"),
                    HasSubstr("65534")));
  fs::create_directory_symlink(base_ + "/elsewhere", root_ + "/run");
  GiveAway(root_ + "/run");
  EXPECT_TRUE(absl::IsPermissionDenied(Append(root_ + "/run/file")));
  EXPECT_EQ(Victim(), "old");
  EXPECT_TRUE(fs::is_empty(base_ + "/elsewhere"));
}

// Another user owns the root folder. Files of that user below the root are
// accepted, but a symbolic link of that user is refused.
TEST_F(FileBelowTest, ALinkOfTheRootsOwnerIsNotFollowed) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make another user's link";
  fs::create_symlink(base_ + "/victim", root_ + "/file");
  GiveAway(root_ + "/file");
  GiveAway(root_);
  EXPECT_TRUE(absl::IsPermissionDenied(Append(root_ + "/file")));
  EXPECT_EQ(Victim(), "old");
  EXPECT_TRUE(Append(root_ + "/other").ok());
}

TEST_F(FileBelowTest, AFolderOrFileOfAnotherUserIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make another user's file";
  std::ofstream(root_ + "/file") << "theirs";
  GiveAway(root_ + "/file");
  EXPECT_TRUE(absl::IsPermissionDenied(Append(root_ + "/file")));
  EXPECT_EQ(fs::file_size(root_ + "/file"), 6u);
  fs::create_directory(root_ + "/run");
  GiveAway(root_ + "/run");
  EXPECT_TRUE(absl::IsPermissionDenied(Append(root_ + "/run/file")));
  EXPECT_TRUE(fs::is_empty(root_ + "/run"));
  // Now the owner of these files also owns the root folder, as when the
  // superuser continues another user's job. The files are then accepted.
  GiveAway(root_);
  EXPECT_TRUE(Append(root_ + "/file").ok());
  EXPECT_TRUE(Append(root_ + "/run/file").ok());
}

}  // namespace
}  // namespace muster
