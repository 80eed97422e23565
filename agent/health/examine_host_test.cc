#include "agent/health/examine_host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> Ids(const CoordinatorFacts& coordinator) {
  std::vector<std::string> ids;
  for (const Finding& finding : ExamineCoordinator(coordinator, "1.0")) {
    ids.push_back(finding.id);
  }
  return ids;
}

CoordinatorFacts SeenAs(const std::string& seen,
                        const std::string& advertised) {
  CoordinatorFacts coordinator;
  coordinator.endpoint = "node0:29400";
  coordinator.local_address = "10.0.0.1";
  coordinator.seen_address = seen;
  coordinator.advertised_address = advertised;
  return coordinator;
}

TEST(ExamineCoordinator, PeersDialTheAddressThatItSees) {
  EXPECT_THAT(Ids(SeenAs("10.0.0.1", "10.0.0.1")), ElementsAre("coordinator"));
  EXPECT_THAT(Ids(SeenAs("10.0.0.1", "")), ElementsAre("coordinator"));
}

TEST(ExamineCoordinator, PeersDialAnotherAddress) {
  const auto findings =
      ExamineCoordinator(SeenAs("10.0.0.1", "10.9.0.1"), "1.0");
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[1].id, "coordinator-other-address");
  EXPECT_EQ(findings[1].severity, Severity::kNote);
  EXPECT_THAT(findings[1].what,
              HasSubstr("peers dial 10.9.0.1, the coordinator sees this node "
                        "as 10.0.0.1"));
}

TEST(ExamineCoordinator, TranslatedAddressIsReportedOnce) {
  EXPECT_THAT(Ids(SeenAs("172.16.0.9", "10.0.0.1")),
              ElementsAre("coordinator", "coordinator-translated"));
  EXPECT_THAT(Ids(SeenAs("172.16.0.9", "172.16.0.9")),
              ElementsAre("coordinator", "coordinator-translated"));
}

TEST(ExamineCoordinator, LocalCoordinatorSeesALoopbackAddress) {
  CoordinatorFacts coordinator = SeenAs("127.0.0.1", "10.0.0.1");
  coordinator.local_address = "127.0.0.1";
  EXPECT_THAT(Ids(coordinator), ElementsAre("coordinator"));
}

TEST(ExamineCoordinator, CoordinatorWithFewFactsIsOk) {
  CoordinatorFacts coordinator = SeenAs("", "");
  auto findings = ExamineCoordinator(coordinator, "1.0");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].what,
            "node0:29400 answers; this node speaks to it from 10.0.0.1");
  coordinator.wants_token = true;
  findings = ExamineCoordinator(coordinator, "1.0");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].severity, Severity::kOk);
  EXPECT_THAT(findings[0].what, HasSubstr("wants the job's token"));
}

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
  // The disk has no free space. This must not add a finding: `root` is a
  // read-only folder, so nothing can be written to it anyway.
  root.free = 0;
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
