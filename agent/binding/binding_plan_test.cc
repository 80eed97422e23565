#include "agent/binding/binding_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/binding/cpu_list.h"
#include "agent/binding/layouts.h"

namespace muster::agent {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Two sockets with one NUMA node and four cores of two hyper-threads each,
// numbered as on Intel's machines: CPUs 0-3 and 8-11 are on socket 0.
constexpr char kTwoSockets[] =
    "pack:2 [numa] l3:1 core:4 pu:2(indexes=0,8,1,9,2,10,3,11,4,12,5,13,6,14,7,"
    "15)";
// One socket with four NUMA nodes (AMD's NPS4 mode), each of two core complexes
// of two cores.
constexpr char kComplexes[] = "pack:1 group:4 [numa] l3:2 core:2 pu:1";

std::vector<std::string> CpusOf(const absl::StatusOr<BindingPlan>& plan) {
  std::vector<std::string> cpus;
  if (!plan.ok()) return {std::string(plan.status().message())};
  for (const WorkerBinding& worker : plan->workers) {
    cpus.push_back(CpuList(worker.cpus));
  }
  return cpus;
}

std::string Refusal(const BindingRequest& request,
                    const MachineLayout& layout) {
  return std::string(PlanBinding(request, layout).status().message());
}

BindingRequest Ask(Binding mode, int workers, const MachineLayout& layout,
                   std::vector<std::string> gpus = {}) {
  return {.mode = mode,
          .workers = workers,
          .allowed = AllCpus(layout),
          .gpus = std::move(gpus)};
}

TEST(BindingPlan, NodeGivesEveryCoreOfTheGpusNode) {
  MachineLayout layout = Synthetic(kTwoSockets);
  const auto gpus = AddGpus({1, 0, 1, 0}, &layout);
  const auto plan = PlanBinding(Ask(Binding::kNode, 4, layout, gpus), layout);
  EXPECT_THAT(CpusOf(plan),
              ElementsAre("4-7,12-15", "0-3,8-11", "4-7,12-15", "0-3,8-11"));
  EXPECT_EQ(plan->workers[0].memory_node, 1);
  EXPECT_EQ(plan->workers[0].threads, 2) << "four cores for two workers";
  EXPECT_EQ(plan->workers[0].reason,
            "GPU 0 (0000:00:00.0) is at NUMA node 1; CPUs 4-7,12-15");
  EXPECT_EQ(plan->how, "by the GPUs' NUMA nodes");
}

TEST(BindingPlan, ExclusiveDividesCoresAndNeverACoresThreads) {
  MachineLayout layout = Synthetic(kTwoSockets);
  const auto gpus = AddGpus({0, 1, 0, 0}, &layout);
  const auto plan =
      PlanBinding(Ask(Binding::kExclusive, 4, layout, gpus), layout);
  EXPECT_THAT(CpusOf(plan), ElementsAre("0-1,8-9", "4-7,12-15", "2,10", "3,11"))
      << "four cores for three GPUs: the first has one more";
  EXPECT_EQ(plan->workers[0].threads, 2);
  EXPECT_EQ(plan->workers[1].threads, 4);
}

TEST(BindingPlan, UnusedGpusGetTheirShareOfCores) {
  MachineLayout layout = Synthetic(kTwoSockets);
  const auto gpus = AddGpus({0, 0, 1, 1}, &layout);
  EXPECT_THAT(
      CpusOf(PlanBinding(Ask(Binding::kExclusive, 2, layout, gpus), layout)),
      ElementsAre("0-1,8-9", "2-3,10-11"));
}

TEST(BindingPlan, SocketTakesAllItsNodes) {
  // Each socket has two NUMA nodes (Intel's sub-NUMA clustering).
  MachineLayout layout = Synthetic("pack:2 group:2 [numa] l3:1 core:2 pu:1");
  const auto gpus = AddGpus({3, 0}, &layout);
  const auto plan = PlanBinding(Ask(Binding::kSocket, 2, layout, gpus), layout);
  EXPECT_THAT(CpusOf(plan), ElementsAre("4-7", "0-3"));
  EXPECT_EQ(plan->workers[0].memory_node, std::nullopt)
      << "two nodes: where it runs";
  EXPECT_THAT(CpusOf(PlanBinding(Ask(Binding::kNode, 2, layout, gpus), layout)),
              ElementsAre("6-7", "0-1"));
}

TEST(BindingPlan, CoreComplexGoesRoundTheNodesCaches) {
  MachineLayout layout = Synthetic(kComplexes);
  const auto gpus = AddGpus({2, 2, 2, 0}, &layout);
  const auto plan =
      PlanBinding(Ask(Binding::kCoreComplex, 4, layout, gpus), layout);
  EXPECT_THAT(CpusOf(plan), ElementsAre("8-9", "10-11", "8-9", "0-1"));
  EXPECT_EQ(plan->workers[0].threads, 1) << "shared with worker 2";
  EXPECT_EQ(plan->workers[1].threads, 2);
}

TEST(BindingPlan, TheComplexWithTheMostUsableCpusComesFirst) {
  MachineLayout layout = Synthetic(kComplexes);
  const auto gpus = AddGpus({0, 0}, &layout);
  BindingRequest request = Ask(Binding::kCoreComplex, 2, layout, gpus);
  request.allowed = {1, 2, 3};
  EXPECT_THAT(CpusOf(PlanBinding(request, layout)), ElementsAre("2-3", "1"));
}

TEST(BindingPlan, CoresWithoutASharedCacheAreTheirOwnComplex) {
  MachineLayout layout = Synthetic("pack:1 [numa] core:2 pu:2");
  EXPECT_THAT(
      CpusOf(PlanBinding(Ask(Binding::kCoreComplex, 2, layout), layout)),
      ElementsAre("0-1", "2-3"));
}

TEST(BindingPlan, OnlyCpusThatThisProcessMayUse) {
  MachineLayout layout = Synthetic(kTwoSockets);
  const auto gpus = AddGpus({0, 1}, &layout);
  BindingRequest request = Ask(Binding::kNode, 2, layout, gpus);
  request.allowed = {0, 2, 3, 5, 6, 8, 1000};
  EXPECT_THAT(CpusOf(PlanBinding(request, layout)),
              ElementsAre("0,2-3,8", "5-6"));
  request.mode = Binding::kExclusive;
  request.gpus = {gpus[0], gpus[0]};
  EXPECT_THAT(CpusOf(PlanBinding(request, layout)), ElementsAre("0,2,8", "3"));
}

TEST(BindingPlan, NoCoreNearTheGpuIsRefused) {
  MachineLayout layout = Synthetic(kTwoSockets);
  const auto gpus = AddGpus({0, 1}, &layout);
  BindingRequest request = Ask(Binding::kNode, 2, layout, gpus);
  request.allowed = {0, 1, 2, 3};
  EXPECT_EQ(Refusal(request, layout),
            "--numa-binding=node: worker 1 cannot be bound: GPU 1 "
            "(0000:10:00.0) is at NUMA node 1, and this process may use no "
            "core there, only CPUs 0-3; ask for cores near the GPUs, or leave "
            "the flag out");
}

TEST(BindingPlan, MoreThanCoresIsRefusedWhereEachIsToHaveItsOwn) {
  MachineLayout layout = Synthetic("pack:1 [numa] core:2 pu:2");
  EXPECT_EQ(Refusal(Ask(Binding::kExclusive, 3, layout), layout),
            "--numa-binding=exclusive: NUMA node 0 has 2 cores that may be "
            "used and 3 workers, so that not everyone can have its own; write "
            "--numa-binding=node, or start fewer workers");
  const auto gpus = AddGpus({0, 0, 0}, &layout);
  EXPECT_THAT(Refusal(Ask(Binding::kExclusive, 1, layout, gpus), layout),
              HasSubstr("2 cores that may be used and 3 GPUs"));
  EXPECT_THAT(CpusOf(PlanBinding(Ask(Binding::kNode, 5, layout), layout)),
              Each("0-3"));
}

TEST(BindingPlan, WithoutGpusWorkersAreSpreadEvenly) {
  const MachineLayout layout = Synthetic("pack:2 group:2 [numa] core:4 pu:1");
  EXPECT_THAT(CpusOf(PlanBinding(Ask(Binding::kNode, 2, layout), layout)),
              ElementsAre("0-3", "8-11"))
      << "on different sockets";
  EXPECT_THAT(CpusOf(PlanBinding(Ask(Binding::kExclusive, 8, layout), layout)),
              ElementsAre("0-1", "2-3", "4-5", "6-7", "8-9", "10-11", "12-13",
                          "14-15"));
  EXPECT_THAT(CpusOf(PlanBinding(Ask(Binding::kExclusive, 5, layout), layout)),
              ElementsAre("0-1", "2-3", "4-7", "8-11", "12-15"));
  const auto plan = PlanBinding(Ask(Binding::kNode, 1, layout), layout);
  EXPECT_EQ(plan->how, "no GPU to be near: spread evenly over NUMA nodes 0-3");
  const MachineLayout small = Synthetic("pack:1 [numa] core:2 pu:1");
  EXPECT_EQ(PlanBinding(Ask(Binding::kNode, 1, small), small)->how,
            "no GPU to be near, and one NUMA node");
}

TEST(BindingPlan, InAnUnevenCgroupTheyAreSpreadByCores) {
  const MachineLayout layout = Synthetic("pack:2 [numa] core:4 pu:1");
  BindingRequest request = Ask(Binding::kExclusive, 5, layout);
  request.allowed = {3, 4, 5, 6, 7};
  EXPECT_THAT(CpusOf(PlanBinding(request, layout)),
              ElementsAre("3", "4", "5", "6", "7"));
}

TEST(BindingPlan, ACoresThreadsAreOneCoreWhereWorkersAreSpread) {
  const MachineLayout layout = Synthetic("pack:2 [numa] core:2 pu:2");
  BindingRequest request = Ask(Binding::kExclusive, 3, layout);
  request.allowed = {0, 1, 4, 6};
  EXPECT_THAT(CpusOf(PlanBinding(request, layout)),
              ElementsAre("0-1", "4", "6"));
}

TEST(BindingPlan, AGpuOfSeveralNodesIsPutWhereACoreCanBeUsed) {
  MachineLayout layout = Synthetic("pack:3 [numa] core:1 pu:1");
  const auto gpus = AddGpus({-1}, &layout);
  layout.devices[0].numa_nodes = {0, 1};
  BindingRequest request = Ask(Binding::kNode, 1, layout, gpus);
  request.allowed = {1, 2};
  EXPECT_THAT(CpusOf(PlanBinding(request, layout)), ElementsAre("1"));
}

TEST(BindingPlan, FewerGpusThanWorkersDoNotMatter) {
  MachineLayout layout = Synthetic("pack:2 [numa] core:2 pu:1");
  const auto gpus = AddGpus({1}, &layout);
  const auto plan = PlanBinding(Ask(Binding::kNode, 2, layout, gpus), layout);
  EXPECT_THAT(CpusOf(plan), ElementsAre("0-1", "2-3"));
  EXPECT_THAT(plan->how, HasSubstr("2 workers share 1 GPU: spread evenly"));
}

TEST(BindingPlan, GpusAtAnUnknownNodeAreDistributedEvenly) {
  MachineLayout layout = Synthetic("pack:2 [numa] core:2 pu:1");
  auto gpus = AddGpus({-1, -1, -1}, &layout);
  gpus.push_back("");  // "": the GPU's bus address is unknown
  const auto plan = PlanBinding(Ask(Binding::kNode, 4, layout, gpus), layout);
  EXPECT_THAT(CpusOf(plan), ElementsAre("0-1", "0-1", "2-3", "2-3"));
  EXPECT_THAT(plan->how, HasSubstr("does not tell them, spread evenly"));
  EXPECT_THAT(plan->workers[3].reason, HasSubstr("GPU 3 is at is not known"));
  // A machine with four NUMA nodes and two GPUs. For each GPU the firmware
  // names two NUMA nodes, 2 and 3. The two workers must be distributed over
  // these two nodes.
  MachineLayout clustered = Synthetic("pack:2 group:2 [numa] core:1 pu:1");
  const auto near = AddGpus({-1, -1}, &clustered);
  for (PciDevice& device : clustered.devices) device.numa_nodes = {2, 3};
  EXPECT_THAT(
      CpusOf(PlanBinding(Ask(Binding::kNode, 2, clustered, near), clustered)),
      ElementsAre("2", "3"));
}

TEST(BindingPlan, SingleNumaNodeIsSharedByAllWorkers) {
  MachineLayout layout = Synthetic("pack:1 core:4 pu:1");
  const auto gpus = AddGpus({-1, 7}, &layout);
  const auto plan = PlanBinding(Ask(Binding::kNode, 2, layout, gpus), layout);
  EXPECT_THAT(CpusOf(plan), ElementsAre("0-3", "0-3"));
  EXPECT_EQ(plan->workers[0].memory_node, std::nullopt);
  EXPECT_EQ(plan->how, "there is one NUMA node");
  EXPECT_THAT(
      CpusOf(PlanBinding(Ask(Binding::kExclusive, 2, layout, gpus), layout)),
      ElementsAre("0-1", "2-3"));
}

TEST(BindingPlan, CpusThatTheMachineDoesNotShow) {
  MachineLayout layout = Synthetic("pack:1 core:2 pu:1");
  BindingRequest request = Ask(Binding::kSocket, 1, layout);
  request.allowed = {64, 65};
  EXPECT_THAT(Refusal(request, layout),
              AllOf(HasSubstr("--numa-binding=socket: CPUs 64-65"),
                    HasSubstr("not among those that the machine shows")));
}

TEST(BindingPlan, PlanNamesTheNearNic) {
  MachineLayout layout = Synthetic(kTwoSockets);
  const auto gpus = AddGpus({0, 1}, &layout);
  layout.devices[0].bridges = {"host 0"};
  layout.devices[1].bridges = {"host 1"};
  layout.nics = {{"mlx5_0", NicKind::kInfiniBand, layout.devices[1]}};
  const auto plan = PlanBinding(Ask(Binding::kNode, 2, layout, gpus), layout);
  EXPECT_THAT(plan->workers[0].near_nic, IsEmpty());
  EXPECT_EQ(plan->workers[1].near_nic, "mlx5_0");
}

PciDevice At(std::vector<std::string> bridges) {
  return {.address = "0000:3b:00.0",
          .bridges = std::move(bridges),
          .numa_nodes = {}};
}

Nic Named(const std::string& name, NicKind kind,
          std::vector<std::string> bridges) {
  return {.name = name, .kind = kind, .at = At(std::move(bridges))};
}

TEST(NearNic, TheOneBehindTheSameSwitch) {
  const PciDevice gpu = At({"host 0", "00:01.0", "17:00.0"});
  EXPECT_EQ(NearNic(gpu, {Named("mlx5_0", NicKind::kInfiniBand,
                                {"host 0", "00:02.0", "27:00.0"}),
                          Named("mlx5_1", NicKind::kInfiniBand,
                                {"host 0", "00:01.0", "18:00.0"})}),
            "mlx5_1");
}

TEST(NearNic, TwoEquallyNearNicsGiveNone) {
  const PciDevice gpu = At({"host 0", "00:01.0"});
  EXPECT_EQ(
      NearNic(gpu,
              {Named("mlx5_0", NicKind::kInfiniBand, {"host 0", "00:01.0"}),
               Named("mlx5_1", NicKind::kInfiniBand, {"host 0", "00:01.0"})}),
      "");
}

TEST(NearNic, AFartherPairDoesNotHideTheNearest) {
  const PciDevice gpu = At({"host 0", "00:01.0"});
  EXPECT_EQ(
      NearNic(gpu, {Named("a", NicKind::kInfiniBand, {"host 0"}),
                    Named("b", NicKind::kInfiniBand, {"host 0"}),
                    Named("c", NicKind::kInfiniBand, {"host 0", "00:01.0"})}),
      "c");
}

TEST(NearNic, NicBehindAnotherHostBridgeIsNotNear) {
  EXPECT_EQ(
      NearNic(At({"host 0"}), {Named("eth0", NicKind::kEthernet, {"host 1"})}),
      "");
  EXPECT_EQ(NearNic(At({}), {Named("eth0", NicKind::kEthernet, {})}), "");
  EXPECT_EQ(NearNic(At({"host 0"}), {}), "");
}

TEST(NearNic, AnInterfaceWhereThereIsNoInfiniBand) {
  const PciDevice gpu = At({"host 0", "00:01.0"});
  EXPECT_EQ(
      NearNic(gpu, {Named("eth0", NicKind::kEthernet, {"host 0", "00:01.0"}),
                    Named("eth1", NicKind::kEthernet, {"host 0"})}),
      "eth0");
  EXPECT_EQ(
      NearNic(gpu, {Named("eth0", NicKind::kEthernet, {"host 0", "00:01.0"}),
                    Named("mlx5_0", NicKind::kInfiniBand, {"host 0"})}),
      "mlx5_0");
}

BindingPlan Of(const std::vector<std::vector<int>>& cpus) {
  BindingPlan plan;
  for (const std::vector<int>& one : cpus) {
    plan.workers.emplace_back().cpus = one;
  }
  plan.how = "by the GPUs' NUMA nodes";
  return plan;
}

TEST(BindingText, TextIsASingleLine) {
  EXPECT_EQ(BindingText(Binding::kNode, Of({{0, 1}, {2, 3}}), 200),
            "node: 0-1 | 2-3");
  EXPECT_EQ(
      BindingText(Binding::kSocket, Of({{0, 1}, {0, 1}, {2}, {0, 1}}), 200),
      "socket: 0-1 x2 | 2 | 0-1");
  EXPECT_EQ(BindingText(Binding::kCoreComplex, Of({{7}}), 200),
            "core-complex: 7");
}

TEST(BindingText, IsCutBehindAWorkerAndNeverLongerThanItMayBe) {
  std::vector<std::vector<int>> many;
  for (int i = 0; i < 128; ++i) many.push_back({i * 2});
  for (size_t most = 40; most < 60; ++most) {
    const std::string text = BindingText(Binding::kExclusive, Of(many), most);
    EXPECT_LE(text.size(), most);
    EXPECT_EQ(text.substr(0, 22), "exclusive: 0 | 2 | 4 |") << text;
    EXPECT_EQ(text.substr(text.size() - 6), " | ...") << text;
  }
  std::vector<int> odd;
  for (int i = 1; i < 100; i += 2) odd.push_back(i);
  EXPECT_EQ(BindingText(Binding::kNode, Of({odd}), 40), "node: ...");
  EXPECT_EQ(BindingText(Binding::kNode, Of({{0}, {1}}), 40), "node: 0 | 1");
}

BindingPlan With(BindingPlan plan, const std::vector<std::string>& nics) {
  for (size_t i = 0; i < nics.size(); ++i) plan.workers[i].near_nic = nics[i];
  return plan;
}

TEST(BindingText, ACardIsShownWithItsWorkers) {
  const auto text = [](const std::vector<std::vector<int>>& cpus,
                       const std::vector<std::string>& nics) {
    return BindingText(Binding::kNode, With(Of(cpus), nics), 200);
  };
  EXPECT_EQ(text({{0, 1}, {2, 3}}, {"mlx5_0", "mlx5_1"}),
            "node: 0-1@mlx5_0 | 2-3@mlx5_1");
  EXPECT_EQ(text({{0, 1}, {2, 3}}, {"", "eth0"}), "node: 0-1 | 2-3@eth0");
  EXPECT_EQ(text({{0}, {0}, {1}, {1}}, {"eth0", "eth0", "a", "b"}),
            "node: 0 x2@eth0 | 1 x2@a,b");
  EXPECT_EQ(text({{0}, {0}, {0}}, {"", "b", ""}), "node: 0 x3@-,b,-");
  EXPECT_EQ(text({{0}, {1}}, {"e\nt\x7f", "a b"}), "node: 0@e?t? | 1@a?b");
}

// A machine of 112 cores with two threads each, and eight GPUs with a network
// card each. BindingText describes its binding in at most 200 bytes.
TEST(BindingText, AMachineOfEightGpusFitsInto200Bytes) {
  std::vector<std::vector<int>> cpus;
  std::vector<std::string> nics;
  for (int gpu = 0; gpu < 8; ++gpu) {
    std::vector<int>& own = cpus.emplace_back();
    for (int thread : {0, 112}) {
      for (int core = 0; core < 14; ++core) {
        own.push_back(thread + 14 * gpu + core);
      }
    }
    nics.push_back("mlx5_" + std::to_string(gpu + 4));
  }
  const BindingPlan plan = With(Of(cpus), nics);
  const std::string text = BindingText(Binding::kExclusive, plan, 200);
  EXPECT_EQ(text.substr(text.size() - 25), " | 98-111,210-223@mlx5_11") << text;
  for (size_t most = 40; most < 200; ++most) {
    EXPECT_LE(BindingText(Binding::kExclusive, plan, most).size(), most);
  }
}

TEST(BindingText, TheRemarkSaysWhy) {
  EXPECT_EQ(
      BindingRemark(Binding::kNode, With(Of({{0, 1}, {2, 3}}), {"mlx5_0", ""})),
      "workers are bound to CPUs: node: 0-1@mlx5_0 | 2-3 (by the GPUs' "
      "NUMA nodes; @: the network card near the GPU)");
  EXPECT_EQ(BindingRemark(Binding::kNode, Of({{0, 1}, {2, 3}})),
            "workers are bound to CPUs: node: 0-1 | 2-3 (by the GPUs' NUMA "
            "nodes)");
}

}  // namespace
}  // namespace muster::agent
