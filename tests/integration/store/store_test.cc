// Tests that real workers on several nodes meet in the round's store. The store
// runs in rank 0's agent or in rank 0's worker.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/harness/cluster.h"

namespace muster {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr char kStoreWorker[] = "tests/integration/store/store_worker";

class StorePaths : public ::testing::TestWithParam<std::vector<std::string>> {
 protected:
  std::unique_ptr<Subprocess> Node(std::vector<std::string> flags,
                                   const std::string& deed) {
    flags.insert(flags.end(), GetParam().begin(), GetParam().end());
    flags.push_back("--nnodes=2");
    flags.push_back("--nproc-per-node=2");
    return cluster_.Node(flags, {deed});
  }

  LocalCluster cluster_{kStoreWorker};
};

TEST_P(StorePaths, AllRanksOfAllNodesMeet) {
  auto one = Node({}, "meet");
  auto two = Node({}, "meet");
  EXPECT_EQ(one->ExitCode(), 0) << one->Output();
  EXPECT_EQ(two->ExitCode(), 0) << two->Output();
  EXPECT_THAT(one->Lines("met at 127.0.0.1 rank="), SizeIs(2));
  EXPECT_THAT(two->Lines("met at 127.0.0.1 rank="), SizeIs(2));
}

// After a failure the store must release the workers that wait in it. Otherwise
// they would wait for ten minutes, until they are killed (--shutdown-timeout).
// The next round must find no key of the first one.
TEST_P(StorePaths, AFailureReleasesWaitingWorkersAndLeavesNoKey) {
  const std::vector<std::string> flags = {"--max-restarts=1",
                                          "--shutdown-timeout=600"};
  auto one = Node(flags, "fail-once");
  auto two = Node(flags, "fail-once");
  EXPECT_EQ(one->ExitCode(), 0) << one->Output();
  EXPECT_EQ(two->ExitCode(), 0) << two->Output();
  const std::string both = one->Output() + two->Output();
  for (const char* rank : {"0", "2", "3"}) {
    EXPECT_THAT(both,
                HasSubstr("released rank=" + std::string(rank) + " restart=0"));
  }
  for (const char* rank : {"0", "1", "2", "3"}) {
    EXPECT_THAT(both,
                HasSubstr("fresh rank=" + std::string(rank) + " restart=1"));
  }
}

TEST_P(StorePaths, StoppingWorkersCanStillUseTheStore) {
  auto one = Node({"--shutdown-timeout=600"}, "stop-together");
  auto two = Node({"--shutdown-timeout=600"}, "stop-together");
  ASSERT_TRUE(one->Printed("ready rank=", 2)) << one->Output();
  ASSERT_TRUE(two->Printed("ready rank=", 2)) << two->Output();
  cluster_.Command({"cancel"})->ExitCode();
  EXPECT_TRUE(one->Printed("agreed rank=", 2)) << one->Output();
  EXPECT_TRUE(two->Printed("agreed rank=", 2)) << two->Output();
  EXPECT_TRUE(one->ExitCode().has_value());
  EXPECT_TRUE(two->ExitCode().has_value());
}

INSTANTIATE_TEST_SUITE_P(Agents, StorePaths,
                         ::testing::Values(std::vector<std::string>{},
                                           std::vector<std::string>{
                                               "--local-store"}));

TEST(WorkerStore, RankZeroServesIt) {
  LocalCluster cluster(kStoreWorker);
  const std::vector<std::string> flags = {"--worker-store", "--nnodes=2",
                                          "--nproc-per-node=2"};
  auto one = cluster.Node(flags, {"meet"});
  auto two = cluster.Node(flags, {"meet"});
  EXPECT_EQ(one->ExitCode(), 0) << one->Output();
  EXPECT_EQ(two->ExitCode(), 0) << two->Output();
}

TEST(WorkerStore, NodesWithDifferentStoreFlagsAreRejected) {
  LocalCluster cluster(kStoreWorker);
  auto one = cluster.Node({"--nnodes=2"}, {"meet"});
  ASSERT_TRUE(one->Printed("waiting")) << one->Output();
  auto two = cluster.Node({"--nnodes=2", "--worker-store"}, {"meet"});
  EXPECT_EQ(two->ExitCode(), 1);
  EXPECT_THAT(two->Output(), HasSubstr("this job runs without --worker-store"));
}

}  // namespace
}  // namespace muster
