#include "launcher/ssh/remote_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "agent/lifecycle/agent_policy.h"
#include "launcher/options/flag_table.h"
#include "launcher/ssh/meeting_flags.h"

namespace muster::launcher {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;
using ::testing::StartsWith;

FrontFacts Facts() {
  return {.launch = "/opt/launch",
          .version = "1",
          .working_directory = "/data",
          .environment = {{"NCCL_DEBUG", "INFO"}},
          .token = "",
          .fresh_token = "fresh",
          .run = "c0ffee"};
}

absl::StatusOr<RemotePlan> Plan(std::vector<std::string> flags,
                                const std::string& hosts,
                                const FrontFacts& facts = Facts()) {
  flags.insert(flags.begin(), "--hostfile=f");
  flags.insert(flags.end(), {"train.py", "--lr=1"});
  const absl::StatusOr<ParsedOptions> parsed =
      ParseRunOptions(FlagsOf(FlagUser::kLaunchOnly), flags, {});
  if (!parsed.ok()) return parsed.status();
  return PlanRemote(parsed->options, *ParseHostFile(hosts), facts);
}

std::string ErrorOf(std::vector<std::string> flags, const std::string& hosts) {
  return std::string(Plan(std::move(flags), hosts).status().message());
}

TEST(RemotePlan, HostsKeepTheirOrderAndSlots) {
  const RemotePlan plan = *Plan({"--role=r"}, "b slots=4\nme@a:2\nc\n");
  const BeNode& node = plan.node;
  EXPECT_EQ(node.run, "c0ffee");
  EXPECT_EQ(plan.least, 3);
  EXPECT_FALSE(plan.alone);
  EXPECT_THAT(node.flags, ElementsAre("--role=r", "--cluster=none",
                                      "--nnodes=3", "--signals-to-leave=SIGPWR",
                                      "--coordinator-timeout=60"));
  EXPECT_THAT(node.program, ElementsAre("train.py", "--lr=1"));
  ASSERT_EQ(node.hosts.size(), 3u);
  EXPECT_THAT(node.hosts[0].flags, ElementsAre("--node-id=b", "--node-rank=0",
                                               "--nproc-per-node=4"));
  EXPECT_EQ(node.hosts[1].destination, "me@a");
  EXPECT_EQ(node.hosts[1].index, 1u);
  EXPECT_THAT(node.hosts[2].flags, ElementsAre("--node-id=c", "--node-rank=2"));
}

TEST(RemotePlan, GivenFlagsAreForwardedToAgents) {
  const RemotePlan plan =
      *Plan({"--nnodes=1:2", "--rdzv-conf=last_call_timeout=1",
             "--max-restarts=3", "-r", "3", "--no-python", "--hang-timeout=off",
             "--quiet", "--signals-to-leave=SIGUSR2", "--ssh-args=-p 1",
             "--export=A=1", "--state-dir=/shared/state"},
            "a\nb\n");
  std::vector<std::string> line = plan.node.flags;
  for (const auto& more :
       {plan.node.hosts[1].flags, MeetingFlags(plan, {{"10.0.0.1", 4711}}),
        plan.node.program}) {
    line.insert(line.end(), more.begin(), more.end());
  }
  const absl::StatusOr<ParsedOptions> read =
      ParseRunOptions(FlagsOf(FlagUser::kLaunchOnly), line, {});
  ASSERT_TRUE(read.ok()) << read.status();
  const RunOptions& options = read->options;
  EXPECT_EQ(options.remote.start, RemoteStart::kNone);
  EXPECT_EQ(options.spec.min_nodes, 1);
  EXPECT_EQ(options.spec.max_nodes, 2);
  EXPECT_EQ(options.spec.max_restarts, 3);
  EXPECT_EQ(options.node_rank, 1);
  EXPECT_EQ(options.node_id, "b");
  EXPECT_EQ(options.state_dir, "/shared/state");
  EXPECT_EQ(options.interpreter, Interpreter::kNoPython);
  EXPECT_EQ(options.verbosity, Verbosity::kQuiet);
  EXPECT_EQ(options.hosting, Hosting::kNever);
  EXPECT_EQ(options.endpoints.front().ToString(), "10.0.0.1:4711");
  EXPECT_EQ(options.spec.last_call, std::chrono::seconds(1));
  EXPECT_THAT(options.policy.signals_to_leave,
              ElementsAre(12, agent::kConnectionLostSignal));
  EXPECT_THAT(options.program, ElementsAre("train.py", "--lr=1"));
}

TEST(RemotePlan, NprocPerNodeOverridesSlots) {
  const RemotePlan plan = *Plan({"--nproc-per-node=gpu"}, "a slots=4");
  EXPECT_THAT(plan.node.flags, Contains("--nproc-per-node=gpu"));
  EXPECT_THAT(plan.node.hosts[0].flags, ElementsAre("--node-id=a"));
  EXPECT_TRUE(plan.alone);
}

// In a host file with different numbers of slots, the nodes of one job have
// different numbers of workers. --nproc-per-node overrides the slots.
TEST(RemotePlan, UnequalSlotsMakeAJobOfMixedNodes) {
  const auto is_mixed = [](const std::vector<std::string>& flags,
                           const std::string& file) {
    return HostingFlags(*Plan(flags, file), {"h", 0})[1].find(
               "mixed_nodes=1") != std::string::npos;
  };
  EXPECT_TRUE(is_mixed({}, "a slots=2\nb slots=4"));
  EXPECT_TRUE(is_mixed({"--rdzv-conf=join_timeout=9"}, "a slots=2\nb"));
  EXPECT_FALSE(is_mixed({}, "a slots=4\nb slots=4"));
  EXPECT_FALSE(is_mixed({"--nproc-per-node=1"}, "a slots=2\nb slots=4"));
}

TEST(RemotePlan, SelectedSlotsBecomeCudaVisibleDevices) {
  std::vector<Host> hosts = *ParseHostFile("a slots=4\nb slots=4");
  hosts[1].chosen_slots = {0, 2};
  const auto plan_of = [&](const std::vector<std::string>& flags) {
    return PlanRemote(
        ParseRunOptions(FlagsOf(FlagUser::kLaunchOnly), flags, {})->options,
        hosts, Facts());
  };
  const BeNode node = plan_of({"--hostfile=f", "x"})->node;
  EXPECT_THAT(node.hosts[0].environment, IsEmpty());
  EXPECT_THAT(node.hosts[1].flags, ElementsAre("--node-id=b", "--node-rank=1",
                                               "--nproc-per-node=2"));
  EXPECT_THAT(node.hosts[1].environment,
              ElementsAre(Pair("CUDA_VISIBLE_DEVICES", "0,2")));
  EXPECT_THAT(
      std::string(
          plan_of({"--hostfile=f", "--gpus=1", "x"}).status().message()),
      StartsWith("--gpus: does not go with slots"));
}

TEST(RemotePlan, FewerNodesUseTheFirstHosts) {
  const RemotePlan plan = *Plan({"--nnodes=2"}, "a\nb\nc");
  ASSERT_EQ(plan.node.hosts.size(), 2u);
  EXPECT_EQ(plan.node.hosts[1].name, "b");
  EXPECT_EQ(plan.least, 2);
}

TEST(RemotePlan, ANodeRangeUsesAllHostsAndMakesSpares) {
  const RemotePlan plan = *Plan({"--nnodes=1:2"}, "a\nb\nc");
  ASSERT_EQ(plan.node.hosts.size(), 3u);
  EXPECT_EQ(plan.least, 1);
  EXPECT_EQ(plan.most, 2);
  EXPECT_THAT(plan.node.flags, Contains("--nnodes=1:2"));
  EXPECT_THAT(plan.node.hosts[1].flags, Contains("--node-rank=1"));
  EXPECT_THAT(plan.node.hosts[2].flags, ElementsAre("--node-id=c"));
}

TEST(RemotePlan, ANodeRangeOfOneSizeMakesSparesToo) {
  const RemotePlan plan = *Plan({"--nnodes=2:2"}, "a\nb\nc");
  ASSERT_EQ(plan.node.hosts.size(), 3u);
  EXPECT_EQ(plan.least, 2);
  EXPECT_EQ(plan.most, 2);
  EXPECT_THAT(plan.node.flags, Contains("--nnodes=2"));
}

TEST(RemotePlan, OneNodeHasNoSpares) {
  for (const char* flag : {"--nnodes=1", "--nnodes=1:1"}) {
    const RemotePlan plan = *Plan({flag}, "a\nb\nc");
    EXPECT_EQ(plan.node.hosts.size(), 1u) << flag;
    EXPECT_TRUE(plan.alone) << flag;
  }
}

TEST(RemotePlan, AgentsWaitLongerForACoordinatorThanItsHostMayBeAway) {
  EXPECT_THAT(Plan({"--rdzv-conf=rejoin_timeout=20"}, "a\nb")->node.flags,
              Contains("--coordinator-timeout=60"));
  EXPECT_THAT(Plan({"--rdzv-conf=rejoin_timeout=300"}, "a\nb")->node.flags,
              Contains("--coordinator-timeout=310"));
}

TEST(RemotePlan, ContradictoryOptionsAreRejected) {
  EXPECT_EQ(ErrorOf({"--nnodes=3"}, "a\nb"),
            "--nnodes=3: asks for more hosts than the host file gives, which "
            "is 2; add hosts or ask for fewer");
  EXPECT_THAT(ErrorOf({"--nnodes=3:4"}, "a\nb"), HasSubstr("more hosts"));
  EXPECT_THAT(ErrorOf({"--node-rank=0"}, "a"), StartsWith("--node-rank: "));
  EXPECT_THAT(ErrorOf({"--node-id=x"}, "a"), StartsWith("--node-id: "));
  EXPECT_THAT(ErrorOf({"--standalone"}, "a"), StartsWith("--standalone: "));
  EXPECT_EQ(ErrorOf({"--standalone=0"}, "a"), "");
  EXPECT_THAT(ErrorOf({"--ssh-args='"}, "a"), StartsWith("--ssh-args=': has"));
}

TEST(RemotePlan, TheTokenIsNeverAFlag) {
  EXPECT_THAT(Plan({}, "a")->node.environment,
              Contains(Pair("MUSTER_TOKEN", "fresh")));
  FrontFacts given = Facts();
  given.token = "given";
  const RemotePlan plan = *Plan({"--token-file=t"}, "a", given);
  EXPECT_THAT(plan.node.environment, Contains(Pair("MUSTER_TOKEN", "given")));
  EXPECT_THAT(plan.node.flags, Not(Contains(HasSubstr("token"))));
  // The endpoint names host a of the host file, so host a hosts the
  // coordinator. `launch` makes a token and sends it to all agents.
  EXPECT_THAT(Plan({"--rdzv-endpoint=a:1"}, "a\nb")->node.environment,
              Contains(Pair("MUSTER_TOKEN", "fresh")));
  // The endpoint names x, which is not in the host file, so the coordinator
  // runs elsewhere. It would not know a token that `launch` makes, so no token
  // is sent.
  EXPECT_THAT(Plan({"--rdzv-endpoint=x"}, "a")->node.environment,
              Not(Contains(Key("MUSTER_TOKEN"))));
  // Several endpoints belong to rendezvousd daemons, even if one endpoint names
  // host a of the job. The daemons would not know a token that `launch` makes,
  // so no token is sent.
  EXPECT_THAT(Plan({"--rdzv-endpoint=a,x"}, "a")->node.environment,
              Not(Contains(Key("MUSTER_TOKEN"))));
}

TEST(RemotePlan, EveryAgentIsGivenAllEndpoints) {
  const RemotePlan plan = *Plan({"--rdzv-endpoint=x:5,y"}, "a\nb");
  EXPECT_THAT(MeetingFlags(plan, plan.endpoints),
              ElementsAre("--rdzv-endpoint=x:5,y:29400"));
}

TEST(RemotePlan, AHostedCoordinatorThatIsAbsentDoesNotComeBack) {
  EXPECT_THAT(Plan({}, "a\nb")->node.flags,
              Contains("--coordinator-timeout=60"));
  const std::vector<std::string> given =
      Plan({"--coordinator-timeout=7"}, "a\nb")->node.flags;
  EXPECT_THAT(given, Contains("--coordinator-timeout=7"));
  EXPECT_THAT(given, Not(Contains("--coordinator-timeout=60")));
  EXPECT_THAT(Plan({"--rdzv-endpoint=x:5"}, "a\nb")->node.flags,
              Not(Contains("--coordinator-timeout=60")));
}

TEST(RemotePlan, AnotherHostTakesOverFromThreeHostsOn) {
  EXPECT_FALSE(Plan({}, "a\nb")->is_taken_over);
  EXPECT_TRUE(Plan({}, "a\nb\nc")->is_taken_over);
  EXPECT_TRUE(Plan({"--nnodes=1:3"}, "a\nb\nc")->is_taken_over);
  EXPECT_FALSE(Plan({"--nnodes=2"}, "a\nb\nc")->is_taken_over);
  EXPECT_FALSE(Plan({"--takeover=never"}, "a\nb\nc")->is_taken_over);
  EXPECT_FALSE(Plan({"--rdzv-endpoint=x:5"}, "a\nb\nc")->is_taken_over);
}

TEST(RemotePlan, FlagsGiveTheMeetingPoint) {
  const RemotePlan fresh = *Plan({}, "a\nb");
  EXPECT_THAT(HostingFlags(fresh, {"10.0.0.1", 0}),
              ElementsAre("--rdzv-endpoint=10.0.0.1:0",
                          "--rdzv-conf=rejoin_timeout=10,is_host=1"));
  EXPECT_EQ(fresh.rejoin_timeout, std::chrono::seconds(10));
  const RemotePlan fixed = *Plan(
      {"--master-port=7", "--master-addr=m", "--rdzv-conf=join_timeout=9"},
      "a\nb");
  EXPECT_THAT(HostingFlags(fixed, {AddressForOthers(fixed, {}), fixed.port}),
              ElementsAre("--rdzv-endpoint=m:7",
                          "--rdzv-conf=join_timeout=9,rejoin_timeout=10,"
                          "is_host=1"));
  const RemotePlan patient = *Plan({"--rdzv-conf=rejoin_timeout=60"}, "a\nb");
  EXPECT_EQ(patient.rendezvous_conf, "rejoin_timeout=60");
  EXPECT_EQ(patient.rejoin_timeout, std::chrono::seconds(60));
  const RemotePlan said = *Plan({"--rdzv-endpoint=x:5"}, "a\nb");
  ASSERT_EQ(said.endpoints.size(), 1u);
  EXPECT_THAT(MeetingFlags(said, said.endpoints),
              ElementsAre("--rdzv-endpoint=x:5"));
  // If the user gives an endpoint, the plan sets no rejoin timeout. Nodes that
  // were started separately may join the job without this setting, and all
  // nodes must have the same settings.
  EXPECT_EQ(said.rejoin_timeout, std::nullopt);
}

TEST(AddressForOthers, IsNeitherLoopbackNorLinkLocal) {
  const RemotePlan names = *Plan({}, "a\nb");
  EXPECT_EQ(AddressForOthers(names, {0, "10.0.0.1", "10.9.9.9"}), "10.0.0.1");
  EXPECT_EQ(AddressForOthers(names, {0, "127.0.0.1", "10.9.9.9"}), "10.9.9.9");
  EXPECT_EQ(AddressForOthers(names, {0, "fe80::1%eth0", "10.9.9.9"}),
            "10.9.9.9");
  EXPECT_EQ(AddressForOthers(names, {0, "127.0.0.1", ""}), "127.0.0.1");
  const RemotePlan one_machine = *Plan({}, "127.0.0.1\nme@localhost");
  EXPECT_EQ(AddressForOthers(one_machine, {0, "127.0.0.1", "10.9.9.9"}),
            "127.0.0.1");
}

}  // namespace
}  // namespace muster::launcher
