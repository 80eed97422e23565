#include "launcher/temporary_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace muster::launcher {
namespace {

class TemporaryFolder : public ::testing::Test {
 protected:
  TemporaryFolder() {
    std::string pattern = ::testing::TempDir() + "/tmp.XXXXXX";
    base_ = mkdtemp(pattern.data());
    around_ = base_ + "/muster_7";
    folder_ = around_ + "/abc";
  }

  std::string base_, around_, folder_;
};

TEST_F(TemporaryFolder, IsTheUsersAlone) {
  ASSERT_TRUE(PrepareTemporaryFolder(folder_).ok());
  struct stat info;
  ASSERT_EQ(stat(around_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  EXPECT_TRUE(PrepareTemporaryFolder(folder_).ok()) << "a second job";
}

TEST_F(TemporaryFolder, OneThatOthersCanWriteIsRefused) {
  ASSERT_EQ(mkdir(around_.c_str(), 0700), 0);
  ASSERT_EQ(chmod(around_.c_str(), 0777), 0);
  EXPECT_TRUE(absl::IsInvalidArgument(PrepareTemporaryFolder(folder_)));
}

TEST_F(TemporaryFolder, ALinkIsRefused) {
  ASSERT_EQ(symlink(base_.c_str(), around_.c_str()), 0);
  EXPECT_TRUE(absl::IsInvalidArgument(PrepareTemporaryFolder(folder_)));
}

TEST_F(TemporaryFolder, NowhereToMakeIt) {
  EXPECT_TRUE(absl::IsInvalidArgument(
      PrepareTemporaryFolder(base_ + "/missing/muster_7/abc")));
}

TEST_F(TemporaryFolder, IsRemovedWithAllInIt) {
  ASSERT_TRUE(PrepareTemporaryFolder(folder_).ok());
  EXPECT_FALSE(HoldsFile(folder_));
  ASSERT_EQ(mkdir(folder_.c_str(), 0700), 0);
  ASSERT_EQ(mkdir((folder_ + "/x").c_str(), 0700), 0);
  EXPECT_FALSE(HoldsFile(folder_));
  std::ofstream(folder_ + "/x/file") << "1";
  EXPECT_TRUE(HoldsFile(folder_));
  RemoveTemporaryFolder(folder_);
  EXPECT_NE(access(around_.c_str(), F_OK), 0);
}

TEST_F(TemporaryFolder, AnotherJobsFilesStay) {
  ASSERT_TRUE(PrepareTemporaryFolder(folder_).ok());
  std::ofstream(around_ + "/other") << "1";
  RemoveTemporaryFolder(folder_);
  EXPECT_EQ(access((around_ + "/other").c_str(), F_OK), 0);
}

}  // namespace
}  // namespace muster::launcher
