#include "launcher/launch_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "launcher/options/flag_table.h"

namespace muster::launcher {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

MachineFacts Node1() {
  MachineFacts facts;
  facts.host_name = "node1";
  facts.addresses = {"127.0.0.1", "10.0.0.1"};
  facts.outward_address = "10.0.0.1";
  facts.cores = 6;
  facts.gpus = {"3", "5"};
  facts.pid = 77;
  facts.incarnation = 0xabc123;
  facts.place_key = "secret";
  facts.uuid = "11111111-2222-4333-8444-555555555555";
  facts.working_directory = "/srv/me";
  facts.temporary_directory = "/tmp/muster_1/abc";
  facts.python = "python3";
  return facts;
}

absl::StatusOr<LaunchPlan> TryPlan(std::vector<std::string> args,
                                   const MachineFacts& facts) {
  absl::StatusOr<ParsedOptions> parsed =
      ParseRunOptions(FlagsOf(FlagUser::kLaunchOnly), args, {});
  EXPECT_TRUE(parsed.ok()) << parsed.status().message();
  if (!parsed.ok()) return parsed.status();
  const absl::StatusOr<Meeting> meeting = DecideMeeting(parsed->options, facts);
  if (!meeting.ok()) return meeting.status();
  return PlanLaunch(parsed->options, *meeting, facts, {{"10.0.0.1"}});
}

LaunchPlan Plan(const std::vector<std::string>& args,
                const MachineFacts& facts = Node1()) {
  absl::StatusOr<LaunchPlan> plan = TryPlan(args, facts);
  EXPECT_TRUE(plan.ok()) << plan.status().message();
  return plan.ok() ? *plan : LaunchPlan();
}

std::string Error(const std::vector<std::string>& args,
                  const MachineFacts& facts = Node1()) {
  return std::string(TryPlan(args, facts).status().message());
}

TEST(LaunchPlan, StandaloneHasItsOwnRunId) {
  EXPECT_EQ(Plan({"--standalone", "--rdzv-id=x", "./a"}).agent.run_id,
            Node1().uuid);
  EXPECT_EQ(Plan({"--rdzv-id=x", "./a"}).agent.run_id, "x");
}

TEST(LaunchPlan, ANodeThatMeetsNobodyHasItsOwnRunIdWhereNoneIsGiven) {
  EXPECT_EQ(Plan({"./a"}).agent.run_id, Node1().uuid);
  EXPECT_EQ(Plan({"--rdzv-endpoint=node1:29400", "./a"}).agent.run_id, "none");
}

TEST(LaunchPlan, AllLogFilesAreRotatedOnlyWhereThatIsAskedFor) {
  using enum agent::LogPlan::Rotation;
  EXPECT_EQ(Plan({"-r3", "./a"}).agent.logs.rotation, kOfShownStreams);
  EXPECT_EQ(Plan({"--log-rotate-mb=256", "./a"}).agent.logs.rotation,
            kOfAllStreams);
}

TEST(LaunchPlan, ARunOfOneNodeHasALogFolderOfItsOwn) {
  const auto name = [](const std::vector<std::string>& args) {
    return Plan(args).agent.logs.run_name;
  };
  EXPECT_EQ(name({"--log-dir=l", "--rdzv-id=j", "./a"}), "j_11111111");
  EXPECT_EQ(name({"--log-dir=l", "./a"}), Node1().uuid);
  EXPECT_FALSE(Plan({"--log-dir=l", "./a"}).agent.logs.is_tagged);
}

TEST(LaunchPlan, WithAStateFolderEachStartOfALoneNodeHasOneRunId) {
  MachineFacts again = Node1();
  again.uuid = "99999999-2222-4333-8444-555555555555";
  again.working_directory = "/srv";
  const std::vector<std::string> args = {"--standalone", "--state-dir=/srv/s",
                                         "--log-dir=/l", "./a"};
  const agent::AgentOptions first = Plan(args).agent;
  const agent::AgentOptions second = Plan(args, again).agent;
  EXPECT_EQ(first.run_id.rfind("state-", 0), 0u) << first.run_id;
  EXPECT_EQ(first.run_id, second.run_id);
  EXPECT_EQ(first.logs.run_name, second.logs.run_name);
  EXPECT_TRUE(first.logs.is_tagged) << "the coordinator knows the run's tag";
  const auto run_id = [&](const std::string& folder) {
    return Plan({"--state-dir=" + folder, "./a"}, again).agent.run_id;
  };
  EXPECT_EQ(run_id("s"), first.run_id);
  EXPECT_EQ(run_id("/srv/s//"), first.run_id);
  EXPECT_NE(run_id("/srv/t"), first.run_id);
  EXPECT_EQ(Plan({"--state-dir=/srv/s", "--rdzv-id=x", "./a"}).agent.run_id,
            "x");
}

TEST(LaunchPlan, TheNodesOfARunShareALogFolderThatHasItsTag) {
  const auto logs = [](std::vector<std::string> args) {
    for (const char* flag :
         {"--rdzv-id=j", "--nnodes=1:2", "--rdzv-endpoint=node1:29400"}) {
      args.emplace_back(flag);
    }
    args.emplace_back("./a");
    return Plan(args).agent.logs;
  };
  EXPECT_EQ(logs({"--log-dir=l"}).run_name, "j");
  EXPECT_TRUE(logs({"--log-dir=l"}).is_tagged);
  EXPECT_FALSE(logs({}).is_tagged) << "a temporary folder is a node's own";
}

TEST(LaunchPlan, TheTemplateOfLinesIsAlsoAVariable) {
  MachineFacts facts = Node1();
  facts.environment["TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE"] = "a";
  EXPECT_EQ(Plan({"./a"}, facts).agent.logs.prefix_template, "a");
  EXPECT_EQ(Plan({"--log-line-prefix-template=b", "./a"}, facts)
                .agent.logs.prefix_template,
            "b");
}

TEST(LaunchPlan, MasterPortOfASingleNode) {
  EXPECT_EQ(Plan({"--master-port=1234", "./a"}).agent.store_port, 1234);
  EXPECT_EQ(Plan({"--master-port=1234", "./a"}).agent.store_port_flag,
            "--master-port");
  EXPECT_EQ(Plan({"./a"}).agent.store_port, 0);
  EXPECT_EQ(Plan({"--nnodes=2", "--master-addr=node1", "--node-rank=0",
                  "--master-port=1234", "./a"})
                .agent.store_port,
            0)
      << "there it is the coordinator's";
}

TEST(LaunchPlan, TheStoresPortCanBeFixed) {
  const LaunchPlan two =
      Plan({"--nnodes=2", "--master-addr=node1", "--node-rank=0",
            "--master-port=1234", "--store-port=1235", "./a"});
  EXPECT_EQ(two.agent.store_port, 1235);
  EXPECT_EQ(two.agent.store_port_flag, "--store-port");
  EXPECT_EQ(two.coordinator.endpoints.front().port, 1234);
  EXPECT_EQ(Plan({"--store-port=1235", "./a"}).agent.store_port, 1235);
  EXPECT_THAT(
      Error({"--nnodes=2", "--rdzv-endpoint=node1:7", "--store-port=7", "./a"}),
      HasSubstr("--store-port=7: is the coordinator's port"));
}

TEST(LaunchPlan, Commands) {
  EXPECT_THAT(Plan({"train.py", "--lr", "1"}).agent.argv,
              ElementsAre("python3", "-u", "train.py", "--lr", "1"));
  EXPECT_THAT(Plan({"-m", "pkg.train"}).agent.argv,
              ElementsAre("python3", "-u", "-m", "pkg.train"));
  EXPECT_THAT(Plan({"--no-python", "train.py"}).agent.argv,
              ElementsAre("train.py"));
  EXPECT_THAT(Plan({"/bin/echo", "hi"}).agent.argv,
              ElementsAre("/bin/echo", "hi"));
  MachineFacts facts = Node1();
  facts.environment["PYTHON_EXEC"] = "/opt/python";
  EXPECT_EQ(Plan({"train.py"}, facts).agent.argv[0], "/opt/python");
}

TEST(LaunchPlan, WorkersPerNode) {
  EXPECT_EQ(Plan({"--nproc-per-node=4", "./a"}).agent.node.slots, 4);
  EXPECT_EQ(Plan({"--nproc-per-node=cpu", "./a"}).agent.node.slots, 6);
  EXPECT_EQ(Plan({"--nproc-per-node=gpu", "./a"}).agent.node.slots, 2);
  EXPECT_EQ(Plan({"--nproc-per-node=auto", "./a"}).agent.node.slots, 2);
  MachineFacts bare = Node1();
  bare.gpus.clear();
  EXPECT_EQ(Plan({"--nproc-per-node=auto", "./a"}, bare).agent.node.slots, 6);
  EXPECT_THAT(Error({"--nproc-per-node=gpu", "./a"}, bare),
              StartsWith("--nproc-per-node=gpu: "));
  const LaunchPlan plan = Plan({"--nproc-per-node=4", "./a"});
  EXPECT_EQ(plan.agent.environment.local_world_size, 4);
  EXPECT_EQ(plan.agent.environment.cores, 6);
  EXPECT_THAT(plan.agent.environment.gpu_of_local_rank, IsEmpty());
}

TEST(LaunchPlan, Gpus) {
  EXPECT_THAT(Plan({"--gpus=1", "./a"}).agent.environment.gpu_of_local_rank,
              ElementsAre("5"));
  EXPECT_THAT(Plan({"--gpus=1,0", "--nproc-per-node=gpu", "./a"})
                  .agent.environment.gpu_of_local_rank,
              ElementsAre("5", "3"));
  const LaunchPlan plan =
      Plan({"--virtual-local-rank", "--nproc-per-node=2", "./a"});
  EXPECT_TRUE(plan.agent.environment.virtual_local_rank);
  EXPECT_THAT(plan.agent.environment.gpu_of_local_rank, ElementsAre("3", "5"));
  EXPECT_EQ(plan.agent.health.gpus_needed, 2);
  EXPECT_EQ(Plan({"--gpus=1", "./a"}).agent.health.gpus_needed, 1);
  EXPECT_EQ(Plan({"--nproc-per-node=gpu", "./a"}).agent.health.gpus_needed, 2);
  EXPECT_EQ(Plan({"--nproc-per-node=4", "./a"}).agent.health.gpus_needed, 0);
  MachineFacts bare = Node1();
  bare.gpus.clear();
  const LaunchPlan without = Plan({"--virtual-local-rank", "./a"}, bare);
  EXPECT_TRUE(without.agent.environment.virtual_local_rank);
  EXPECT_THAT(without.agent.environment.gpu_of_local_rank, ElementsAre("0"));
  EXPECT_THAT(Error({"--gpus=2", "./a"}),
              HasSubstr("there is no GPU 2, this node has 2 GPUs"));
  EXPECT_THAT(Error({"--gpus=0,0", "./a"}), HasSubstr("named twice"));
  EXPECT_THAT(Error({"--gpus=x", "./a"}), HasSubstr("neither a number nor"));
  EXPECT_THAT(Error({"--gpus=0", "--nproc-per-node=2", "./a"}),
              HasSubstr("2 workers with a GPU each, but this node has 1 GPU"));
  EXPECT_THAT(Error({"--virtual-local-rank", "--nproc-per-node=3", "./a"}),
              HasSubstr("3 workers with a GPU each"));
}

TEST(LaunchPlan, NodeRank) {
  const LaunchPlan plan =
      Plan({"--nnodes=2", "--node-rank=1", "--rdzv-endpoint=node1", "./a"});
  EXPECT_EQ(plan.agent.node.node_rank, 1);
  EXPECT_EQ(plan.agent.node.node_id, "rank-1");
  EXPECT_THAT(
      Error({"--nnodes=2", "--node-rank=2", "--rdzv-endpoint=node1", "./a"}),
      HasSubstr("has node ranks from 0 to 1; look at --nnodes"));
}

TEST(LaunchPlan, NodeIdentity) {
  rendezvous::NodeIdentity node =
      Plan({"--local-addr=10.9.9.9", "--role=r", "./a"}).agent.node;
  EXPECT_EQ(node.node_id, "node1-abc123");
  EXPECT_EQ(node.host, "node1");
  EXPECT_EQ(node.address, "10.9.9.9");
  EXPECT_EQ(node.pid, 77);
  EXPECT_EQ(node.incarnation, 0xabc123u);
  EXPECT_EQ(node.role, "r");
  EXPECT_FALSE(node.node_rank.has_value());
  EXPECT_EQ(Plan({"--node-id=mine", "./a"}).agent.node.node_id, "mine");
}

TEST(LaunchPlan, KubernetesIndexNamesTheNode) {
  MachineFacts facts = Node1();
  facts.environment["JOB_COMPLETION_INDEX"] = "3";
  const std::vector<std::string> job = {"--nnodes=4", "--rdzv-endpoint=node1",
                                        "./a"};
  const rendezvous::NodeIdentity node = Plan(job, facts).agent.node;
  EXPECT_EQ(node.index, 3);
  EXPECT_EQ(node.node_id, "index-3");
  EXPECT_FALSE(Plan({"./a"}, facts).agent.node.index.has_value());
}

TEST(LaunchPlan, SlurmsNumberCountsIfItsStepHasATaskForEachNode) {
  MachineFacts facts = Node1();
  facts.environment["SLURM_PROCID"] = "1";
  facts.environment["SLURM_STEP_NUM_TASKS"] = "2";
  const std::vector<std::string> job = {"--nnodes=2", "--rdzv-endpoint=node1",
                                        "./a"};
  EXPECT_EQ(Plan(job, facts).agent.node.index, 1);
  facts.environment["SLURM_STEP_NUM_TASKS"] = "1";
  EXPECT_FALSE(Plan(job, facts).agent.node.index.has_value())
      << "two agents in one task would be one node";
}

TEST(LaunchPlan, TheNodesLabelsAreItsTopology) {
  EXPECT_THAT(Plan({"--topology=block=b1,rack=r7", "./a"}).agent.node.topology,
              ElementsAre("block=b1", "rack=r7"));
}

TEST(LaunchPlan, Logs) {
  EXPECT_EQ(Plan({"./a"}).agent.logs.directory, "/tmp/muster_1/abc");
  EXPECT_EQ(Plan({"--log-dir=logs", "./a"}).agent.logs.directory,
            "/srv/me/logs");
  EXPECT_EQ(Plan({"--log-dir=/logs", "./a"}).agent.logs.directory, "/logs");
  const agent::LogPlan logs =
      Plan({"-r", "3", "-t", "0:1", "--local-ranks-filter=0", "--rdzv-id=j",
            "--duplicate-stdout-filters=x", "--log-rotate-mb=0", "./a"})
          .agent.logs;
  EXPECT_EQ(logs.run_name, "j");
  EXPECT_EQ(logs.redirects.For(1), agent::StreamSet::kBoth);
  EXPECT_EQ(logs.tee.For(0), agent::StreamSet::kOut);
  EXPECT_THAT(logs.console_local_ranks, ElementsAre(0));
  EXPECT_THAT(logs.stdout_filters, ElementsAre("x"));
  EXPECT_EQ(logs.rotate_bytes, 0);
}

TEST(LaunchPlan, Signals) {
  const LaunchPlan plan = Plan(
      {"--signals-to-handle=SIGUSR1", "--signals-to-leave=SIGTERM", "./a"});
  EXPECT_THAT(plan.agent.signals_to_handle, ElementsAre(SIGUSR1));
  EXPECT_THAT(plan.agent.policy.signals_to_leave, ElementsAre(SIGTERM));
  EXPECT_EQ(plan.agent.environment.signals_to_handle, "SIGUSR1");
}

TEST(LaunchPlan, TheAgentKnowsItsCoordinator) {
  const LaunchPlan plan =
      Plan({"--nnodes=2", "--rdzv-endpoint=node1:7", "./a"});
  EXPECT_EQ(plan.agent.coordinator_endpoint, "node1:7");
  EXPECT_EQ(plan.agent.environment.coordinator_endpoint, "node1:7");
  EXPECT_EQ(plan.coordinator.place, CoordinatorPlace::kHereIfFree);
}

TEST(LaunchPlan, TheAgentAndItsWorkersKnowEveryEndpoint) {
  const LaunchPlan plan =
      Plan({"--nnodes=2", "--rdzv-endpoint=node1:7,node2", "./a"});
  EXPECT_EQ(plan.agent.coordinator_endpoint, "node1:7,node2:29400");
  EXPECT_EQ(plan.agent.environment.coordinator_endpoint, "node1:7,node2:29400");
  EXPECT_EQ(plan.coordinator.place, CoordinatorPlace::kElsewhere);
}

}  // namespace
}  // namespace muster::launcher
