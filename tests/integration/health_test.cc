// Tests of the health check of nodes before every round, with real launches.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "tests/integration/harness/cluster.h"

namespace muster {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

class Health : public ::testing::Test {
 protected:
  Health() {
    folder_ = testing::TempDir() + "health-XXXXXX";
    EXPECT_NE(mkdtemp(folder_.data()), nullptr);
    healthy_ = folder_ + "/healthy";
  }
  ~Health() override { std::filesystem::remove_all(folder_); }

  // Returns flags with a health check that fails until Heal() is called.
  std::vector<std::string> Checked() const {
    return {"--health-command=echo looking; [ -e " + healthy_ +
                " ] || { echo GPU 3 is gone; exit 1; }",
            "--health-interval=0.1"};
  }
  void Heal() const { std::ofstream(healthy_) << ""; }

  std::string folder_;
  std::string healthy_;
};

TEST_F(Health, AnUnhealthyNodeIsNamedAndJoinsOnceHealthy) {
  LocalCluster cluster;
  std::vector<std::string> flags = {"--nnodes=2", "--node-id=left"};
  auto a = cluster.Node(flags, {"succeed-in", "1"});
  flags = Checked();
  flags.insert(flags.end(), {"--nnodes=2", "--node-id=right"});
  auto b = cluster.Node(flags, {"succeed-in", "1"});
  ASSERT_TRUE(b->Printed("this node is not let in: --health-command: GPU 3"));
  auto status = cluster.Command({"status", "--run-id=job"});
  EXPECT_EQ(status->ExitCode(), 0);
  EXPECT_THAT(status->Output(),
              HasSubstr("unhealthy: --health-command: GPU 3"));
  EXPECT_THAT(b->Output(), Not(HasSubstr("up rank=")));
  Heal();
  EXPECT_EQ(a->ExitCode(), 0);
  EXPECT_EQ(b->ExitCode(), 0);
  EXPECT_THAT(b->Lines("world=2"), SizeIs(1));
}

TEST_F(Health, AHealedNodeJoinsARunningJob) {
  LocalCluster cluster;
  const std::vector<std::string> elastic = {
      "--nnodes=1:2", "--rdzv-conf=is_host=0,last_call_timeout=0",
      "--scale-up-cooldown=0"};
  auto a = cluster.Node(elastic, {"succeed-in", "2"});
  ASSERT_TRUE(a->Printed("round=1 world=1"));
  std::vector<std::string> flags = Checked();
  flags.insert(flags.end(), elastic.begin(), elastic.end());
  auto b = cluster.Node(flags, {"succeed-in", "2"});
  ASSERT_TRUE(b->Printed("this node is unhealthy"));
  Heal();
  EXPECT_EQ(a->ExitCode(), 0);
  EXPECT_EQ(b->ExitCode(), 0);
  EXPECT_THAT(a->Lines("round=2 world=2"), SizeIs(1));
}

TEST_F(Health, TheJoinTimeoutNamesTheNodeAndTheReason) {
  LocalCluster cluster;
  std::vector<std::string> flags = Checked();
  flags.insert(flags.end(),
               {"--nnodes=1", "--rdzv-conf=is_host=0,join_timeout=5"});
  auto a = cluster.Node(flags, {});
  EXPECT_EQ(a->ExitCode(), 1);
  EXPECT_THAT(a->Output(),
              AllOf(HasSubstr("only 0 of at least 1 node"),
                    HasSubstr("unhealthy: "), HasSubstr("GPU 3 is gone")));
}

// The second round begins only after the second check has passed.
TEST_F(Health, EveryRoundStartsAfterACheck) {
  const std::string log = folder_ + "/log";
  auto launch =
      Standalone({"--max-restarts=1", "--health-command=echo checked >> " + log,
                  "--health-interval=3600"},
                 {"exit-until", "3", "2"});
  EXPECT_EQ(launch->ExitCode(), 0);
  std::ifstream file(log);
  std::string line;
  int checks = 0;
  while (std::getline(file, line)) ++checks;
  EXPECT_EQ(checks, 2);
}

TEST_F(Health, AHangingCheckIsKilledWithItsChildren) {
  LocalCluster cluster;
  auto a = cluster.Node(
      {"--nnodes=1",
       "--health-command=tail -f /dev/null & echo child=$! .; wait",
       "--health-timeout=3", "--health-interval=3600",
       "--rdzv-conf=is_host=0,join_timeout=3600"},
      {});
  ASSERT_TRUE(a->Printed("it did not end within 3 s"));
  const std::string line = a->Lines("it did not end within 3 s").at(0);
  const size_t at = line.find("child=");
  ASSERT_NE(at, std::string::npos) << line;
  const std::string child = line.substr(at);
  EXPECT_TRUE(IsGone(std::atoi(Field(child, "child").c_str())));
  a->Signal(SIGTERM);
  EXPECT_EQ(a->ExitCode(), 128 + SIGTERM);
}

}  // namespace
}  // namespace muster
