// Tests of the binding of workers to CPUs. Also tests that ranks are ordered by
// the position of nodes in the network.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <utility>

#include "tests/integration/harness/cluster.h"

namespace muster {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr char kBoundWorker[] = "tests/integration/binding/bound_worker.sh";

// Returns the numbers of the first `count` CPUs that this process may use.
std::vector<std::string> FirstCpus(size_t count) {
  cpu_set_t own;
  std::vector<std::string> cpus;
  if (sched_getaffinity(0, sizeof(own), &own) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE && cpus.size() < count; ++cpu) {
    if (CPU_ISSET(cpu, &own)) cpus.push_back(std::to_string(cpu));
  }
  return cpus;
}

// Tests on a simulated machine: hwloc shows `launch` two NUMA nodes, each with
// one of this process's CPUs, whatever the real machine is.
class BindingTest : public ::testing::Test {
 protected:
  void SetUp() override {
    cpus_ = FirstCpus(2);
    if (cpus_.size() < 2) GTEST_SKIP() << "needs two CPUs";
    const std::string machine =
        "pack:2 [numa] core:1 pu:1(indexes=" + cpus_[0] + "," + cpus_[1] + ")";
    setenv("HWLOC_SYNTHETIC", machine.c_str(), 1);
    setenv("CUDA_VISIBLE_DEVICES", "", 1);
  }
  ~BindingTest() override {
    unsetenv("HWLOC_SYNTHETIC");
    unsetenv("CUDA_VISIBLE_DEVICES");
  }

  std::vector<std::string> cpus_;
};

TEST_F(BindingTest, WorkersRunWhereTheyAreBoundAndStatusShowsIt) {
  LocalCluster cluster(kBoundWorker);
  auto node = cluster.Node({"--nnodes=1", "--nproc-per-node=2",
                            "--numa-binding=node", "--node-id=only"},
                           {"forever"});
  ASSERT_TRUE(node->Printed("bound rank=", 2)) << node->Output();
  for (int rank = 0; rank < 2; ++rank) {
    const std::string& cpu = cpus_[static_cast<size_t>(rank)];
    const auto lines = node->Lines("bound rank=" + std::to_string(rank));
    ASSERT_THAT(lines, SizeIs(1));
    EXPECT_EQ(Field(lines[0], "cpus"), cpu);
    EXPECT_EQ(Field(lines[0], "set"), cpu);
    EXPECT_EQ(Field(lines[0], "threads"), "1");
  }
  const std::string text = "node: " + cpus_[0] + " | " + cpus_[1];
  EXPECT_THAT(node->Output(),
              HasSubstr("workers are bound to CPUs: " + text +
                        " (no GPU to be near: spread evenly over NUMA nodes "
                        "0-1)"));
  auto status = cluster.Command({"status", "job"});
  EXPECT_EQ(status->ExitCode(), 0);
  EXPECT_THAT(status->Lines("CPUS"), SizeIs(1)) << status->Output();
  EXPECT_THAT(status->Lines("  " + text), SizeIs(1)) << status->Output();
  auto json = cluster.Command({"status", "job", "--json"});
  EXPECT_EQ(json->ExitCode(), 0);
  EXPECT_THAT(json->Output(), HasSubstr("\"binding\": \"" + text + "\""));
  auto list = cluster.Command({"status", "--json"});
  EXPECT_EQ(list->ExitCode(), 0);
  EXPECT_THAT(list->Output(), HasSubstr("\"binding\": \"" + text + "\""));
  node->Signal(SIGTERM);
  EXPECT_TRUE(node->ExitCode().has_value());
}

TEST_F(BindingTest, MoreWorkersThanCoresAreRejected) {
  Subprocess launch({kLaunch, "--standalone", "--nproc-per-node=3",
                     "--numa-binding=exclusive", kBoundWorker});
  EXPECT_EQ(launch.ExitCode(), 2);
  EXPECT_THAT(launch.Output(), HasSubstr("has 1 core that may be used and 2 "
                                         "workers"));
  EXPECT_THAT(launch.Lines("bound"), SizeIs(0));
}

TEST_F(BindingTest, WithoutTheFlagNoWorkerIsBound) {
  Subprocess launch(
      {kLaunch, "--standalone", "--nproc-per-node=1", kBoundWorker},
      {{"MUSTER_CPU_SET", "77"}});
  EXPECT_EQ(launch.ExitCode(), 0);
  const auto lines = launch.Lines("bound rank=0");
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_EQ(Field(lines[0], "set"), "");
  EXPECT_NE(Field(lines[0], "cpus"), cpus_[0]);
}

TEST(Topology, NeighboursInTheNetworkGetNeighbouringRanks) {
  LocalCluster cluster(kBoundWorker);
  const std::vector<std::pair<std::string, std::string>> nodes = {
      {"d", "row=1,rack=2"},
      {"a", "row=1,rack=1"},
      {"b", "row=2,rack=1"},
      {"c", "row=1,rack=1"},
      {"e", "row=2,rack=1"}};
  std::vector<std::unique_ptr<Subprocess>> launched;
  for (const auto& [id, labels] : nodes) {
    launched.push_back(cluster.Node(
        {"--nnodes=5", "--node-id=" + id, "--topology=" + labels}, {}));
  }
  const std::map<std::string, std::string> expected = {
      {"a", "0"}, {"c", "1"}, {"d", "2"}, {"b", "3"}, {"e", "4"}};
  for (size_t i = 0; i < nodes.size(); ++i) {
    EXPECT_EQ(launched[i]->ExitCode(), 0) << launched[i]->Output();
    const auto lines = launched[i]->Lines("bound rank=");
    ASSERT_THAT(lines, SizeIs(1)) << launched[i]->Output();
    EXPECT_EQ(Field(lines[0], "group"), expected.at(nodes[i].first));
  }
}

}  // namespace
}  // namespace muster
