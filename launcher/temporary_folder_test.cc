#include "launcher/temporary_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace muster::launcher {
namespace {

class TemporaryFolder : public ::testing::Test {
 protected:
  TemporaryFolder() {
    std::string pattern = ::testing::TempDir() + "/tmp.XXXXXX";
    base_ = mkdtemp(pattern.data());
    around_ = base_ + "/muster_" + std::to_string(geteuid());
    folder_ = around_ + "/abc";
  }

  std::string base_, around_, folder_;
};

TEST_F(TemporaryFolder, IsTheUsersAlone) {
  EXPECT_EQ(MakeTemporaryFolder(folder_).value(), folder_);
  for (const std::string& made : {around_, folder_}) {
    struct stat info;
    ASSERT_EQ(stat(made.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0700u);
  }
  EXPECT_EQ(MakeTemporaryFolder(around_ + "/def").value(), around_ + "/def");
}

// If another user has already created the folder muster_<uid>, the job's folder
// is created elsewhere.
TEST_F(TemporaryFolder, LiesElsewhereIfTheUsersNameIsTaken) {
  ASSERT_EQ(mkdir(around_.c_str(), 0700), 0);
  ASSERT_EQ(chmod(around_.c_str(), 0777), 0);
  const std::string made = MakeTemporaryFolder(folder_).value();
  EXPECT_TRUE(std::filesystem::is_directory(made));
  EXPECT_NE(std::filesystem::path(made).parent_path(), around_);
  EXPECT_EQ(std::filesystem::path(made).filename(), "abc");
}

TEST_F(TemporaryFolder, NowhereToMakeIt) {
  EXPECT_TRUE(absl::IsInvalidArgument(
      MakeTemporaryFolder(base_ + "/missing/muster_7/abc").status()));
}

TEST_F(TemporaryFolder, IsRemovedWithAllInIt) {
  ASSERT_TRUE(MakeTemporaryFolder(folder_).ok());
  EXPECT_FALSE(HoldsFile(folder_));
  ASSERT_EQ(mkdir((folder_ + "/x").c_str(), 0700), 0);
  EXPECT_FALSE(HoldsFile(folder_));
  std::ofstream(folder_ + "/x/file") << "1";
  EXPECT_TRUE(HoldsFile(folder_));
  RemoveTemporaryFolder(folder_);
  EXPECT_NE(access(around_.c_str(), F_OK), 0);
}

TEST_F(TemporaryFolder, AnotherJobsFilesStay) {
  ASSERT_TRUE(MakeTemporaryFolder(folder_).ok());
  std::ofstream(around_ + "/other") << "1";
  RemoveTemporaryFolder(folder_);
  EXPECT_EQ(access((around_ + "/other").c_str(), F_OK), 0);
}

}  // namespace
}  // namespace muster::launcher
