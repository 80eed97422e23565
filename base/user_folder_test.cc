#include "base/user_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace muster {
namespace {

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
