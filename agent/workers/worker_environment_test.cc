#include "agent/workers/worker_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::agent {
namespace {

using ::testing::_;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

using Variables = std::map<std::string, std::string>;

// The settings of a node with four workers.
EnvironmentPlan Plan() {
  EnvironmentPlan plan;
  plan.run_id = "exp-7";
  plan.node_id = "host-b";
  plan.role = "trainer";
  plan.local_world_size = 4;
  plan.max_restarts = 3;
  plan.signals_to_handle = "SIGTERM,SIGINT";
  plan.cores = 10;
  plan.coordinator_endpoint = "10.0.0.1:29400";
  return plan;
}

rendezvous::Place SecondNode() {
  rendezvous::Place place;
  place.round = 3;
  place.group_rank = 1;
  place.group_world_size = 2;
  place.first_rank = 4;
  place.world_size = 8;
  place.role_first_rank = 2;
  place.role_world_size = 6;
  place.restart_count = 2;
  place.master_address = "10.0.0.1";
  place.master_port = 40123;
  return place;
}

Variables Of(const EnvironmentPlan& plan, int local_rank,
             const Variables& inherited = {},
             const std::string& error_file = "/logs/error.json") {
  Variables variables;
  for (const auto& [name, value] :
       WorkerEnvironment(plan, SecondNode(), local_rank,
                         {.error_file = error_file,
                         .progress_socket = "/tmp/s/3.2",
                         .preemption_file = "/tmp/s/preemption.json"},
                         inherited)) {
    EXPECT_TRUE(variables.emplace(name, value).second) << name << " twice";
  }
  return variables;
}

TEST(WorkerEnvironmentTest, EveryVariableByName) {
  const Variables kExpected = {
      {"RANK", "6"},
      {"LOCAL_RANK", "2"},
      {"WORLD_SIZE", "8"},
      {"LOCAL_WORLD_SIZE", "4"},
      {"GROUP_RANK", "1"},
      {"GROUP_WORLD_SIZE", "2"},
      {"ROLE_RANK", "4"},
      {"ROLE_WORLD_SIZE", "6"},
      {"ROLE_NAME", "trainer"},
      {"MASTER_ADDR", "10.0.0.1"},
      {"MASTER_PORT", "40123"},
      {"TORCHELASTIC_RESTART_COUNT", "2"},
      {"TORCHELASTIC_MAX_RESTARTS", "3"},
      {"TORCHELASTIC_RUN_ID", "exp-7"},
      {"TORCHELASTIC_USE_AGENT_STORE", "True"},
      {"TORCHELASTIC_ERROR_FILE", "/logs/error.json"},
      {"TORCHELASTIC_SIGNALS_TO_HANDLE", "SIGTERM,SIGINT"},
      {"TORCH_NCCL_ASYNC_ERROR_HANDLING", "1"},
      {"OMP_NUM_THREADS", "2"},
      {"MUSTER_RUN_ID", "exp-7"},
      {"MUSTER_NODE_ID", "host-b"},
      {"MUSTER_ROUND", "3"},
      {"MUSTER_COORDINATOR", "10.0.0.1:29400"},
      {"MUSTER_PROGRESS_SOCKET", "/tmp/s/3.2"},
      {"MUSTER_PREEMPTION_FILE", "/tmp/s/preemption.json"},
  };
  EXPECT_EQ(Of(Plan(), 2), kExpected);
}

TEST(WorkerEnvironmentTest, AWorkersOwnStoreIsSaid) {
  EnvironmentPlan plan = Plan();
  plan.store_host = rendezvous::StoreHost::kWorker;
  EXPECT_EQ(Of(plan, 0)["TORCHELASTIC_USE_AGENT_STORE"], "False");
}

TEST(WorkerEnvironmentTest, TheWorldsNcclIdWhereThereIsOne) {
  rendezvous::Place place = SecondNode();
  place.nccl_id = "0a1b";
  EXPECT_THAT(WorkerEnvironment(Plan(), place, 0, {}, {}),
              Contains(Pair("MUSTER_NCCL_ID", "0a1b")));
  EXPECT_EQ(Of(Plan(), 0).count("MUSTER_NCCL_ID"), 0u);
  EXPECT_THAT(WithheldFromWorkers(), Contains("MUSTER_NCCL_ID"))
      << "an outer job's is none of ours";
}

TEST(WorkerEnvironmentTest, UsersVariablesAreKept) {
  Variables inherited = {{"OMP_NUM_THREADS", "16"},
                         {"TORCH_NCCL_ASYNC_ERROR_HANDLING", "3"},
                         {"RANK", "99"}};
  Variables variables = Of(Plan(), 0, inherited);
  EXPECT_EQ(variables.count("OMP_NUM_THREADS"), 0u);
  EXPECT_EQ(variables["TORCH_NCCL_ASYNC_ERROR_HANDLING"], "3");
  EXPECT_EQ(variables["RANK"], "4");
}

TEST(WorkerEnvironmentTest, ThreadsAreAFairShareOfTheCores) {
  struct {
    int workers;
    int cores;
    const char* threads;
  } const kCases[] = {{2, 8, "4"}, {3, 8, "2"}, {4, 2, "1"}, {2, 0, "1"}};
  for (const auto& c : kCases) {
    EnvironmentPlan plan = Plan();
    plan.local_world_size = c.workers;
    plan.cores = c.cores;
    EXPECT_EQ(Of(plan, 1)["OMP_NUM_THREADS"], c.threads);
  }
}

TEST(WorkerEnvironmentTest, ALoneWorkerMayTakeEveryCore) {
  EnvironmentPlan plan = Plan();
  plan.local_world_size = 1;
  EXPECT_EQ(Of(plan, 0).count("OMP_NUM_THREADS"), 0u);
}

TEST(WorkerEnvironmentTest, EachWorkerGetsItsGpu) {
  EnvironmentPlan plan = Plan();
  EXPECT_EQ(Of(plan, 0).count("CUDA_VISIBLE_DEVICES"), 0u);
  plan.gpu_of_local_rank = {"0", "1", "MIG-4f5a", "7"};
  EXPECT_EQ(Of(plan, 2)["CUDA_VISIBLE_DEVICES"], "MIG-4f5a");
  EXPECT_EQ(Of(plan, 2)["LOCAL_RANK"], "2");
  plan.virtual_local_rank = true;
  EXPECT_EQ(Of(plan, 2)["CUDA_VISIBLE_DEVICES"], "MIG-4f5a");
  EXPECT_EQ(Of(plan, 2)["LOCAL_RANK"], "0");
  EXPECT_EQ(Of(plan, 2)["RANK"], "6");
}

TEST(WorkerEnvironmentTest, AnErrorFileIsNotHandedOnFromAnOuterJob) {
  EXPECT_EQ(Of(Plan(), 0, {}, "").count("TORCHELASTIC_ERROR_FILE"), 0u);
  Variables inherited = {{"TORCHELASTIC_ERROR_FILE", "/outer/error.json"}};
  EXPECT_THAT(Of(Plan(), 0, inherited, ""),
              Contains(Pair("TORCHELASTIC_ERROR_FILE", "")));
}

TEST(WorkerEnvironmentTest, InheritedProgressSocketIsNotPassedOn) {
  const auto of = [](const Variables& inherited) {
    return WorkerEnvironment(Plan(), SecondNode(), 0, {}, inherited);
  };
  EXPECT_THAT(of({}), Not(Contains(Pair("MUSTER_PROGRESS_SOCKET", _))));
  EXPECT_THAT(of({{"MUSTER_PROGRESS_SOCKET", "/outer/1.0"}}),
              Contains(Pair("MUSTER_PROGRESS_SOCKET", "")));
}

TEST(WorkerEnvironmentTest, AFilesVariablesGoBeforeTheInherited) {
  EnvironmentPlan plan = Plan();
  plan.more = {
      {"NCCL_DEBUG", "INFO"}, {"OMP_NUM_THREADS", "5"}, {"RANK", "99"}};
  const Variables variables =
      Of(plan, 0, {{"NCCL_DEBUG", "WARN"}, {"OMP_NUM_THREADS", "16"}});
  EXPECT_THAT(variables, Contains(Pair("NCCL_DEBUG", "INFO")));
  EXPECT_THAT(variables, Contains(Pair("OMP_NUM_THREADS", "5")));
  EXPECT_THAT(variables, Contains(Pair("RANK", "4"))) << "is not a file's";
}

TEST(WorkerEnvironmentTest, VariablesOfTheAgentAreListed) {
  EnvironmentPlan plan = Plan();
  plan.bindings.assign(4, {.cpus = {0}, .near_nic = "mlx5_0"});
  rendezvous::Place place = SecondNode();
  place.nccl_id = "id";
  const auto told = [&] {
    const auto all = WorkerEnvironment(plan, place, 1,
                                       {.error_file = "/e",
                                        .progress_socket = "/p",
                                        .node_address = "10.0.0.2",
                                        .preemption_file = "/q"},
                                       {});
    return Variables(all.begin(), all.end());
  };
  const Variables set = told();
  for (const auto& [name, value] : set) plan.more[name] = "the file's";
  for (const auto& [name, value] : told()) {
    EXPECT_EQ(IsSetByAgent(name), value != "the file's") << name;
  }
  EXPECT_FALSE(IsSetByAgent("NCCL_DEBUG"));
}

TEST(WorkerEnvironmentTest, FrameworkEnvsTellTheSamePlace) {
  EnvironmentPlan plan = Plan();
  plan.framework_envs = {FrameworkEnv::kMpi, FrameworkEnv::kDeepSpeed,
                         FrameworkEnv::kAccelerate};
  plan.virtual_local_rank = true;
  plan.more = {{"ACCELERATE_MIXED_PRECISION", "bf16"}};
  const Variables variables = Of(plan, 2);
  EXPECT_THAT(variables, Contains(Pair("OMPI_COMM_WORLD_RANK", "6")));
  EXPECT_THAT(variables, Contains(Pair("OMPI_COMM_WORLD_LOCAL_RANK", "2")))
      << "virtual is torchrun's local rank alone";
  EXPECT_THAT(variables, Contains(Pair("CROSS_RANK", "1")));
  EXPECT_THAT(variables, Contains(Pair("ACCELERATE_MIXED_PRECISION", "bf16")));
}

TEST(WorkerEnvironmentTest, NodeAddressIsAVariable) {
  EXPECT_THAT(WorkerEnvironment(Plan(), SecondNode(), 0,
                                {.node_address = "10.0.0.2"}, {}),
              Contains(Pair("MUSTER_NODE_ADDRESS", "10.0.0.2")));
}

TEST(WorkerEnvironmentTest, BoundWorkerGetsItsCpusAndThreads) {
  EnvironmentPlan plan = Plan();
  plan.cores = 64;
  plan.bindings.resize(4);
  plan.bindings[1] = {.cpus = {8, 9, 10, 11, 40, 41},
                      .threads = 4,
                      .memory_node = {},
                      .near_nic = "mlx5_1",
                      .reason = ""};
  const Variables variables = Of(plan, 1);
  EXPECT_THAT(variables, Contains(Pair("MUSTER_CPU_SET", "8-11,40-41")));
  EXPECT_THAT(variables, Contains(Pair("MUSTER_NEAR_NIC", "mlx5_1")));
  EXPECT_THAT(variables, Contains(Pair("OMP_NUM_THREADS", "4")));
  EXPECT_THAT(Of(plan, 0), Not(Contains(Key("MUSTER_NEAR_NIC"))));
  // a container's CPU quota limits the node to 8 cores, so each of its four
  // workers gets two threads
  plan.cores = 8;
  EXPECT_THAT(Of(plan, 1), Contains(Pair("OMP_NUM_THREADS", "2")));
  EXPECT_THAT(Of(plan, 1, {{"OMP_NUM_THREADS", "7"}}),
              Not(Contains(Key("OMP_NUM_THREADS"))));
}

TEST(WorkerEnvironmentTest, AnOuterWorkersCpusAreNotHandedOn) {
  EXPECT_THAT(Of(Plan(), 0), Not(Contains(Key("MUSTER_CPU_SET"))));
  EXPECT_THAT(WithheldFromWorkers(), Contains("MUSTER_CPU_SET"));
}

TEST(WorkerEnvironmentDeathTest, ALocalRankBeyondTheNodeIsABug) {
  EXPECT_DEATH(Of(Plan(), 4), "local rank 4 of 4");
}

TEST(WithheldFromWorkersTest, TheSecretAndTheInitSystemsChannels) {
  EXPECT_THAT(WithheldFromWorkers(), Contains("MUSTER_TOKEN"));
  EXPECT_THAT(WithheldFromWorkers(), Contains("NOTIFY_SOCKET"));
}

// The third of the four workers on the second of two nodes.
constexpr WorkerPlace kPlace = {.rank = 6,
                                .world_size = 8,
                                .local_rank = 2,
                                .local_world_size = 4,
                                .node = 1,
                                .nodes = 2};

TEST(FrameworkVariablesTest, WithoutFrameworkEnvsThereAreNone) {
  EXPECT_THAT(FrameworkVariables({}, kPlace), IsEmpty());
}

TEST(FrameworkVariablesTest, OpenMpisAndHydras) {
  EXPECT_THAT(FrameworkVariables({FrameworkEnv::kMpi}, kPlace),
              UnorderedElementsAre(Pair("OMPI_COMM_WORLD_RANK", "6"),
                                   Pair("OMPI_COMM_WORLD_SIZE", "8"),
                                   Pair("OMPI_COMM_WORLD_LOCAL_RANK", "2"),
                                   Pair("OMPI_COMM_WORLD_LOCAL_SIZE", "4"),
                                   Pair("OMPI_COMM_WORLD_NODE_RANK", "2"),
                                   Pair("OMPI_UNIVERSE_SIZE", "8"),
                                   Pair("PMI_RANK", "6"), Pair("PMI_SIZE", "8"),
                                   Pair("MPI_LOCALRANKID", "2"),
                                   Pair("MPI_LOCALNRANKS", "4")));
}

TEST(FrameworkVariablesTest, NothingByWhichMpiLooksForItsLauncher) {
  EXPECT_THAT(
      FrameworkVariables({FrameworkEnv::kMpi}, kPlace),
      Each(Key(AllOf(Not(StartsWith("OMPI_MCA")), Not(StartsWith("PMIX")),
                     Not(HasSubstr("_FD")), Not(HasSubstr("_PORT"))))));
}

TEST(FrameworkVariablesTest, DeepSpeedsNodes) {
  EXPECT_THAT(
      FrameworkVariables({FrameworkEnv::kDeepSpeed}, kPlace),
      UnorderedElementsAre(Pair("CROSS_RANK", "1"), Pair("CROSS_SIZE", "2"),
                           Pair("LOCAL_SIZE", "4")));
}

TEST(FrameworkVariablesTest, SeveralAtOnce) {
  const auto variables = FrameworkVariables(
      {FrameworkEnv::kAccelerate, FrameworkEnv::kMpi}, kPlace);
  EXPECT_THAT(variables, Contains(Pair("PMI_RANK", "6")));
  EXPECT_THAT(variables, Contains(Pair("ACCELERATE_MIXED_PRECISION", "no")));
  EXPECT_THAT(variables, Contains(Pair("ACCELERATE_DYNAMO_BACKEND", "NO")));
}

TEST(FrameworkVariablesTest, TheOnesThatNeedAddressesComeLater) {
  EXPECT_THAT(FrameworkVariables(
                  {FrameworkEnv::kTensorFlow, FrameworkEnv::kJax}, kPlace),
              IsEmpty());
}

}  // namespace
}  // namespace muster::agent
