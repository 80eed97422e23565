#include "launcher/options/worker_slots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/binding/layouts.h"
#include "launcher/options/agent_plan.h"
#include "rendezvous/protocol/report.h"

namespace muster::launcher {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class VirtualLocalRank : public ::testing::Test {
 protected:
  VirtualLocalRank() { options_.local_ranks = LocalRanks::kVirtual; }

  std::vector<std::string> Gpus(const char* workers) {
    options_.workers_per_node = workers;
    const auto slots = PlanWorkerSlots(options_, facts_);
    EXPECT_TRUE(slots.ok()) << slots.status();
    return slots.ok() ? slots->gpu_of_local_rank : std::vector<std::string>();
  }
  std::string Error(const char* workers) {
    options_.workers_per_node = workers;
    return std::string(PlanWorkerSlots(options_, facts_).status().message());
  }

  RunOptions options_;
  MachineFacts facts_;
};

TEST_F(VirtualLocalRank, EachWorkerHasItsEntryWithoutADriver) {
  facts_.environment["CUDA_VISIBLE_DEVICES"] = "3, 5";
  EXPECT_THAT(Gpus("2"), ElementsAre("3", "5"));
  EXPECT_THAT(Gpus("1"), ElementsAre("3"));
  EXPECT_THAT(Error("3"), HasSubstr("3 workers with a GPU each, but "
                                    "CUDA_VISIBLE_DEVICES=3, 5 has 2 entries"));
}

TEST_F(VirtualLocalRank, WithoutTheVariableTheNumberIsTheLocalRank) {
  EXPECT_THAT(Gpus("2"), ElementsAre("0", "1"));
}

TEST_F(VirtualLocalRank, RocmsVariableGoesFirst) {
  facts_.environment["CUDA_VISIBLE_DEVICES"] = "0,1";
  facts_.environment["HIP_VISIBLE_DEVICES"] = "6,7";
  facts_.gpus = {"0", "1"};
  EXPECT_THAT(Gpus("2"), ElementsAre("6", "7"));
  EXPECT_TRUE(PlanWorkerSlots(options_, facts_)->sets_hip);
  EXPECT_THAT(Error("3"), HasSubstr("HIP_VISIBLE_DEVICES=6,7"));
}

TEST_F(VirtualLocalRank, ADriversGpusAreCounted) {
  facts_.gpus = {"0", "1"};
  EXPECT_THAT(Gpus("2"), ElementsAre("0", "1"));
  EXPECT_FALSE(PlanWorkerSlots(options_, facts_)->sets_hip);
  EXPECT_THAT(Error("3"), HasSubstr("this node has 2 GPUs"));
}

TEST_F(VirtualLocalRank, RealOnesShareTheNodesVariable) {
  options_.local_ranks = LocalRanks::kReal;
  facts_.environment["CUDA_VISIBLE_DEVICES"] = "3,5";
  EXPECT_THAT(Gpus("2"), IsEmpty());
}

class GpuNamesTest : public ::testing::Test {
 protected:
  std::vector<std::string> Names() { return GpuNames(slots_, facts_); }

  WorkerSlots slots_{.count = 2};
  MachineFacts facts_;
};

TEST_F(GpuNamesTest, ArePlannedOnesFirst) {
  slots_.gpu_of_local_rank = {"MIG-1", "MIG-2"};
  facts_.gpus = {"0", "1"};
  EXPECT_THAT(Names(), ElementsAre("MIG-1", "MIG-2"));
}

TEST_F(GpuNamesTest, AreTheFirstOnesThatTheDriverLists) {
  facts_.gpus = {"3", "5", "6"};
  facts_.environment["CUDA_VISIBLE_DEVICES"] = "7,8";
  EXPECT_THAT(Names(), ElementsAre("3", "5"));
  facts_.gpus = {"3"};
  EXPECT_THAT(Names(), ElementsAre("7", "8"));
}

TEST_F(GpuNamesTest, AreTheEntriesOfTheVariable) {
  facts_.environment["CUDA_VISIBLE_DEVICES"] = "4, GPU-ab,2";
  facts_.gpu_devices = 8;
  EXPECT_THAT(Names(), ElementsAre("4", "GPU-ab"));
  facts_.environment["CUDA_VISIBLE_DEVICES"] = "4";
  EXPECT_THAT(Names(), IsEmpty()) << "GPU 0 is hidden";
}

TEST_F(GpuNamesTest, AreTheLocalRanksIfTheMachineHasSoManyDeviceFiles) {
  facts_.gpu_devices = 2;
  EXPECT_THAT(Names(), ElementsAre("0", "1"));
  facts_.gpu_devices = 1;
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(GpuNamesTest, AreBounded) {
  facts_.environment["CUDA_VISIBLE_DEVICES"] =
      "a\nb," + std::string(rendezvous::kMaxGpuNameBytes + 1, '1');
  EXPECT_THAT(
      Names(),
      ElementsAre("a?b", std::string(rendezvous::kMaxGpuNameBytes, '1')));
  slots_.count = rendezvous::kMaxGpuNames + 1;
  facts_.environment.clear();
  facts_.gpu_devices = slots_.count;
  EXPECT_THAT(Names(), SizeIs(rendezvous::kMaxGpuNames));
}

const Meeting kHere = {.endpoints = {{"here", 1}}, .run_id = "none"};

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A machine with two NUMA nodes of two cores each. GPUs 0 and 1 are attached to
// the first NUMA node, GPU 2 to the second.
MachineFacts Facts() {
  MachineFacts facts;
  facts.layout = agent::Synthetic("pack:2 [numa] core:2 pu:1");
  facts.gpu_addresses = agent::AddGpus({0, 0, 1}, &facts.layout);
  facts.gpus = {"0", "1", "2"};
  facts.allowed_cpus = {0, 1, 2, 3};
  facts.cores = 4;
  return facts;
}

RunOptions Options(agent::Binding mode, const std::string& workers) {
  RunOptions options;
  options.binding = mode;
  options.workers_per_node = workers;
  options.program = {"./a"};
  options.interpreter = Interpreter::kNoPython;
  return options;
}

std::vector<std::vector<int>> Bound(const RunOptions& options,
                                    const MachineFacts& facts) {
  std::vector<std::vector<int>> cpus;
  const auto plan = PlanAgent(options, facts, kHere);
  EXPECT_TRUE(plan.ok()) << plan.status();
  if (!plan.ok()) return cpus;
  for (const agent::WorkerBinding& worker : plan->environment.bindings) {
    cpus.push_back(worker.cpus);
  }
  return cpus;
}

TEST(NodeBinding, WorkersAreNearTheGpusThatCudaNumbersForThem) {
  EXPECT_THAT(Bound(Options(agent::Binding::kExclusive, "gpu"), Facts()),
              ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2, 3)));
}

TEST(NodeBinding, ChosenGpusAreTheOnlyOnesThatMatter) {
  RunOptions options = Options(agent::Binding::kExclusive, "2");
  options.gpus = {"2", "1"};
  EXPECT_THAT(Bound(options, Facts()),
              ElementsAre(ElementsAre(2, 3), ElementsAre(0, 1)));
}

TEST(NodeBinding, AChosenGpuThatIsNotAmongTheVisibleIsNowhereInParticular) {
  RunOptions options = Options(agent::Binding::kNode, "1");
  options.gpus = {"GPU-1234"};
  MachineFacts facts = Facts();
  facts.allowed_cpus = {2, 3};
  EXPECT_THAT(Bound(options, facts), ElementsAre(ElementsAre(2, 3)));
}

TEST(NodeBinding, TheNodeSaysWhatItsWorkersAreBoundTo) {
  const auto plan =
      PlanAgent(Options(agent::Binding::kNode, "gpu"), Facts(), kHere);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->node.binding, "node: 0-1 x2 | 2-3");
  EXPECT_THAT(plan->remarks,
              ElementsAre("workers are bound to CPUs: node: 0-1 x2 | 2-3 (by "
                          "the GPUs' NUMA nodes)"));
}

TEST(NodeBinding, TheNodeSaysWhichCardsAreNearItsGpus) {
  MachineFacts facts = Facts();
  facts.layout.devices[2].bridges = {"host 1", "00:01.0"};
  facts.layout.nics = {
      {"mlx5_0", agent::NicKind::kInfiniBand, facts.layout.devices[2]}};
  const auto plan =
      PlanAgent(Options(agent::Binding::kNode, "gpu"), facts, kHere);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->node.binding, "node: 0-1 x2 | 2-3@mlx5_0");
}

TEST(NodeBinding, WorkersAreNotBoundByDefault) {
  const auto plan =
      PlanAgent(Options(agent::Binding::kNone, "gpu"), Facts(), kHere);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_THAT(plan->environment.bindings, IsEmpty());
  EXPECT_THAT(plan->node.binding, IsEmpty());
  EXPECT_THAT(plan->remarks, IsEmpty());
}

TEST(NodeBinding, MoreWorkersThanCoresAreRefused) {
  EXPECT_THAT(std::string(PlanAgent(Options(agent::Binding::kExclusive, "5"),
                                    Facts(), kHere)
                              .status()
                              .message()),
              HasSubstr("3 workers, so that not everyone can have its own"));
}

}  // namespace
}  // namespace muster::launcher
