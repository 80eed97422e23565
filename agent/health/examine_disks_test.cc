#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/health/examine_host.h"

namespace muster::agent {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> Ids(const FolderFacts& folder) {
  std::vector<std::string> ids;
  for (const Finding& finding : ExamineDisks({folder})) {
    ids.push_back(finding.id);
  }
  return ids;
}

FolderFacts ReadOnly(const std::string& purpose) {
  FolderFacts folder;
  folder.purpose = purpose;
  folder.path = ".";
  folder.total = folder.free = int64_t{1} << 40;
  folder.read_only = true;
  return folder;
}

TEST(ExamineDisks, AContainersReadOnlyRootIsNoTroubleAsWorkingFolder) {
  FolderFacts root = ReadOnly(kWorkingPurpose);
  root.mounted_read_only = true;
  root.free = 0;  // The folder needs no free space.
  EXPECT_THAT(Ids(root), ElementsAre("working-folder-read-only"));
  EXPECT_EQ(ExamineDisks({root})[0].severity, Severity::kOk);
}

TEST(ExamineDisks, AWorkingFolderThatTheKernelMadeReadOnlyIsTrouble) {
  EXPECT_THAT(Ids(ReadOnly(kWorkingPurpose)),
              ElementsAre("disks", "disk-read-only"));
}

TEST(ExamineDisks, FoldersThatTakeFilesMustBeWritable) {
  FolderFacts logs = ReadOnly(kLogsPurpose);
  logs.mounted_read_only = true;
  EXPECT_THAT(Ids(logs), ElementsAre("disks", "disk-mounted-read-only"));
}

}  // namespace
}  // namespace muster::agent
