#include "launcher/report/status_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "rendezvous/events/status_json.h"

namespace muster::launcher {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

rendezvous::NodeStatus Node(const std::string& id,
                            std::optional<int> group_rank) {
  rendezvous::NodeStatus node;
  node.node.node_id = node.node.host = id;
  node.node.address = "10.0.0." + std::to_string(id.back() - 'a' + 1);
  node.node.slots = 2;
  node.group_rank = group_rank;
  node.phase = group_rank ? rendezvous::NodePhase::kRunning
                          : rendezvous::NodePhase::kIdle;
  node.silent_for = std::chrono::milliseconds(490);
  return node;
}

rendezvous::JobStatus Running() {
  rendezvous::JobStatus job;
  job.run_id = "exp-7";
  job.phase = rendezvous::JobPhase::kRunning;
  job.reason = "round 3 runs on 2 nodes since host-d was lost";
  job.round = 3;
  job.world_size = 3;
  job.restarts_used = 1;
  job.spec.min_nodes = 2;
  job.spec.max_nodes = 4;
  job.spec.max_restarts = 3;
  job.master_address = "10.0.0.1";
  job.master_port = 29500;
  job.age = std::chrono::seconds(4321);
  job.phase_age = std::chrono::seconds(754);
  job.nodes = {Node("host-a", 0), Node("host-b", 1), Node("host-c", {})};
  job.nodes[1].draining = true;
  job.nodes[1].node.slots = 1;
  job.nodes[2].connected = false;
  return job;
}

TEST(StatusTableTest, ALongGatheringShowsAHint) {
  rendezvous::JobStatus job = Running();
  job.spec.min_nodes = 4;
  EXPECT_THAT(StatusTable(job, {}), Not(HasSubstr("hint")));
  job.phase = rendezvous::JobPhase::kGathering;
  EXPECT_THAT(StatusTable(job, {}), HasSubstr("kubectl describe pod"));
  job.phase_age = std::chrono::seconds(59);
  EXPECT_THAT(StatusTable(job, {}), Not(HasSubstr("hint")));
  job.phase_age = std::chrono::seconds(60);
  job.spec.min_nodes = 3;
  EXPECT_THAT(StatusTable(job, {}), Not(HasSubstr("hint")));
}

TEST(StatusTableTest, SlowRanksAreNamedWithTheirPhaseAndTheGain) {
  rendezvous::JobStatus job = Running();
  EXPECT_THAT(StatusTable(job, {}), Not(HasSubstr("slow")));
  job.slow_ranks = {{.rank = 2,
                     .node_id = "n1",
                     .host = "host-b",
                     .local_rank = 1,
                     .gpu = "5",
                     .phase = rendezvous::SlowPhase::kCompute,
                     .ratio = 1.419,
                     .is_persistent = true},
                    {.rank = 3,
                     .host = "host-c",
                     .phase = rendezvous::SlowPhase::kData,
                     .ratio = 1.2}};
  job.slow_ranks_gain = 0.224;
  const std::string table = StatusTable(job, {});
  EXPECT_THAT(table, HasSubstr("slow ranks   rank 2 (host-b, local rank 1, "
                               "GPU 5): compute, 1.42 x the median\n"));
  EXPECT_THAT(table, HasSubstr("rank 3 (host-c, local rank 0): data, 1.20 x "
                               "the median, for now\n"));
  EXPECT_THAT(table, HasSubstr("without them a step is 22 % shorter\n"));
  job.slow_ranks = {{.rank = 3,
                     .host = "host-c",
                     .phase = rendezvous::SlowPhase::kNetwork,
                     .ratio = 12.5,
                     .max_gain = 0.4,
                     .is_persistent = true}};
  EXPECT_THAT(StatusTable(job, {}),
              AllOf(HasSubstr("rank 3 (host-c, local rank 0): network, 12.50 x "
                              "the other links,\n"),
                    HasSubstr(" a step up to 40 % shorter without\n"),
                    Not(HasSubstr("without them"))));
  job.slow_ranks.assign(10, {});
  EXPECT_THAT(StatusTable(job, {}), HasSubstr("and 2 more\n"));
}

TEST(StatusJsonTest, HasTheSlowRanks) {
  rendezvous::JobStatus job = Running();
  job.slow_ranks = {{.rank = 2,
                     .node_id = "n1",
                     .host = "host-b",
                     .local_rank = 1,
                     .gpu = "0",
                     .phase = rendezvous::SlowPhase::kData,
                     .ratio = 1.5,
                     .is_persistent = true}};
  job.slow_ranks_gain = 0.25;
  const auto json = nlohmann::json::parse(StatusJson(job));
  EXPECT_EQ(json["slow_ranks_gain"], 0.25);
  EXPECT_EQ(json["slow_ranks"].size(), 1);
  EXPECT_EQ(json["slow_ranks"][0]["rank"], 2);
  EXPECT_EQ(json["slow_ranks"][0]["node_id"], "n1");
  EXPECT_EQ(json["slow_ranks"][0]["host"], "host-b");
  EXPECT_EQ(json["slow_ranks"][0]["local_rank"], 1);
  EXPECT_EQ(json["slow_ranks"][0]["phase"], "data");
  EXPECT_EQ(json["slow_ranks"][0]["ratio"], 1.5);
  EXPECT_EQ(json["slow_ranks"][0]["persistent"], true);
  EXPECT_EQ(json["slow_ranks"][0]["gpu"], "0");
  EXPECT_TRUE(json["slow_ranks"][0]["max_gain"].is_null());
  job.slow_ranks[0].max_gain = 0.125;
  EXPECT_EQ(nlohmann::json::parse(StatusJson(job))["slow_ranks"][0]["max_gain"],
            0.125);
  job.slow_ranks[0].gpu.clear();
  EXPECT_TRUE(
      nlohmann::json::parse(StatusJson(job))["slow_ranks"][0]["gpu"].is_null());
}

TEST(StatusJsonTest, HasTheTimesOfTheWorkersThatMeasureThem) {
  rendezvous::JobStatus job = Running();
  job.nodes[0].progress = {{.local_rank = 0}, {.local_rank = 1}};
  job.nodes[0].times = {{.local_rank = 1,
                         .work = std::chrono::milliseconds(1500),
                         .data = std::chrono::milliseconds(250),
                         .collectives = std::chrono::milliseconds(750)}};
  const auto json = nlohmann::json::parse(StatusJson(job));
  const auto& progress = json["nodes"][0]["progress"];
  EXPECT_TRUE(progress[0]["seconds"].is_null());
  EXPECT_EQ(
      progress[1]["seconds"],
      nlohmann::json({{"work", 1.5}, {"data", 0.25}, {"collectives", 0.75}}));
  EXPECT_TRUE(progress[0]["collectives_seconds"].is_null());
  EXPECT_TRUE(progress[1]["collectives_seconds"].is_null());
  job.nodes[0].times[0].wait = std::chrono::milliseconds(500);
  job.nodes[0].times[0].transfer = std::chrono::milliseconds(125);
  EXPECT_EQ(nlohmann::json::parse(StatusJson(
                job))["nodes"][0]["progress"][1]["collectives_seconds"],
            nlohmann::json({{"wait", 0.5}, {"transfer", 0.125}}));
}

TEST(StatusTableTest, AJournalThatFailsIsShown) {
  rendezvous::JobStatus job = Running();
  EXPECT_THAT(StatusTable(job, {}), Not(HasSubstr("journal")));
  job.not_durable = "the disk is\x1b[2J full";
  job.not_durable_for = std::chrono::seconds(75);
  EXPECT_THAT(StatusTable(job, {}),
              HasSubstr("journal      not durable for 1m 15s: the disk is"));
  EXPECT_THAT(StatusTable(job, {}), Not(HasSubstr("\x1b[2J")));
}

TEST(StatusTableTest, ARunningJobShowsItsNodes) {
  EXPECT_EQ("\n" + StatusTable(Running(), {}), R"(
job exp-7: running
  round        3, running for 12m 34s; the job is 1h 12m old
  reason       round 3 runs on 2 nodes since host-d was lost
  world        3 workers on 2 nodes, 1 spare (wants 2 to 4)
  master       10.0.0.1:29500
  restarts     1 of 3 used

GROUP  RANKS  NODE    ADDRESS   PHASE    HEARD      NOTES
0      0-1    host-a  10.0.0.1  running  0.49s ago
1      2      host-b  10.0.0.2  running  0.49s ago  draining
-      -      host-c  10.0.0.3  idle     0.49s ago  spare, disconnected
)");
}

TEST(StatusTableTest, BoundWorkersShowTheirCores) {
  rendezvous::JobStatus job = Running();
  job.nodes[0].node.binding = "node: 0-15 | 16-31";
  job.nodes[0].node.topology = {"block=b1", "rack=r7"};
  job.nodes[1].node.binding = "exclusive: " + std::string(180, '1');
  const std::string table = StatusTable(job, {});
  EXPECT_THAT(table, HasSubstr("HEARD      CPUS                            "));
  EXPECT_THAT(table, HasSubstr("0.49s ago  node: 0-15 | 16-31\n"));
  EXPECT_THAT(table, HasSubstr("0.49s ago  exclusive: 111"));
  EXPECT_THAT(table, Not(HasSubstr(std::string(60, '1'))));
  EXPECT_THAT(table, HasSubstr("0.49s ago  -  "));
  const auto json = nlohmann::json::parse(rendezvous::StatusJson(job));
  EXPECT_EQ(json["nodes"][0]["binding"], "node: 0-15 | 16-31");
  EXPECT_EQ(json["nodes"][0]["topology"],
            nlohmann::json({"block=b1", "rack=r7"}));
  EXPECT_EQ(json["nodes"][2]["binding"], "");
}

TEST(StatusTableTest, NodeIdsThatAreNoHostNamesHaveAColumn) {
  rendezvous::JobStatus job = Running();
  job.phase = rendezvous::JobPhase::kGathering;
  job.reason = "1 of at least 2 nodes is here";
  job.round = 0;
  job.world_size = 0;
  job.master_address = "";
  job.spec.max_nodes = 2;
  job.nodes = {Node("host-a", {})};
  job.nodes[0].node.node_id = "pod-0";
  EXPECT_EQ("\n" + StatusTable(job, {}), R"(
job exp-7: gathering
  round        0, gathering for 12m 34s; the job is 1h 12m old
  reason       1 of at least 2 nodes is here
  world        none now, 1 node waiting (wants 2)
  hint         Look at what starts the missing nodes: in Kubernetes kubectl get
                 pods shows which pods are missing, kubectl describe pod why one
                 is Pending.
  restarts     1 of 3 used

GROUP  RANKS  NODE   HOST    ADDRESS   PHASE  HEARD      NOTES
-      -      pod-0  host-a  10.0.0.1  idle   0.49s ago  waiting
)");
}

TEST(StatusTableTest, ProgressComesAfterTheNodes) {
  rendezvous::JobStatus job = Running();
  job.nodes[0].progress = {{.local_rank = 1, .step = 12}};
  const std::string text = StatusTable(job, {});
  EXPECT_THAT(text, HasSubstr("  progress     step 12; 1 of 3 ranks report\n"));
  EXPECT_THAT(text, HasSubstr("disconnected\n\nRANK  HOST    STEP  HEARD\n"
                              "1     host-a  12    0.00s ago\n"));
}

TEST(StatusTableTest, AFinishedJobShowsItsOutcome) {
  rendezvous::JobStatus job = Running();
  job.phase = rendezvous::JobPhase::kFinished;
  job.verdict.emplace();
  job.verdict->outcome = rendezvous::Outcome::kFailed;
  job.verdict->exit_code = 137;
  job.nodes.clear();
  std::string text = StatusTable(job, {});
  EXPECT_THAT(text, HasSubstr("job exp-7: failed\n"));
  EXPECT_THAT(text, HasSubstr("exit code 137\n"));
  EXPECT_THAT(text, Not(HasSubstr("GROUP")));
}

TEST(StatusTableTest, ShowsQuarantinedNodesWithTheReason) {
  rendezvous::JobStatus job = Running();
  job.nodes[2].judgement = {.state = rendezvous::HostState::kQuarantined,
                            .score = 3,
                            .reason = "rank 3: killed by SIGBUS"};
  job.nodes[1].judgement.state = rendezvous::HostState::kSuspected;
  const std::string table = StatusTable(job, {});
  EXPECT_THAT(table, HasSubstr("quarantined: rank 3: killed by SIGBUS"));
  EXPECT_THAT(table, Not(HasSubstr("suspected")));
  EXPECT_THAT(table, Not(HasSubstr("faults")));
  const auto json = nlohmann::json::parse(rendezvous::StatusJson(job));
  EXPECT_EQ(json["nodes"][2]["judgement"]["state"], "quarantined");
  EXPECT_EQ(json["nodes"][2]["judgement"]["score"], 3);
  EXPECT_TRUE(json["nodes"][0]["judgement"].is_null());
}

TEST(StatusTableTest, ShowsFaultsOfAMachineThatKeepsItsPlace) {
  rendezvous::JobStatus job = Running();
  job.nodes[2].judgement = {.state = rendezvous::HostState::kHealthy,
                            .score = 3,
                            .reason = "rank 3: killed by SIGBUS"};
  EXPECT_THAT(StatusTable(job, {}),
              HasSubstr("faults: rank 3: killed by SIGBUS"));
  const auto json = nlohmann::json::parse(rendezvous::StatusJson(job));
  EXPECT_EQ(json["nodes"][2]["judgement"]["state"], "healthy");
}

TEST(HostTableTest, EachMachineHasOneLine) {
  const std::vector<rendezvous::HostStatus> hosts = {
      {.key = {.host = "h1", .ip = ""},
       .judgement = {.state = rendezvous::HostState::kBanned,
                     .reason = "broken\nfan"},
       .age = std::chrono::seconds(5)},
      {.key = {.host = "h2", .ip = "10.0.0.2"},
       .judgement = {.state = rendezvous::HostState::kQuarantined,
                     .score = 2.96,
                     .reason = "lost"},
       .run_id = "train",
       .faults = 3,
       .age = std::chrono::seconds(90)}};
  EXPECT_EQ("\n" + HostTable(hosts), R"(
NODE  ADDRESS   STATE        SCORE  FAULTS  AGE     JOB    REASON
h1    -         banned       0.0    0       5.0s    -      broken fan
h2    10.0.0.2  quarantined  3.0    3       1m 30s  train  lost
)");
  EXPECT_EQ(HostTable({}), "no node has faults\n");
  const auto json = nlohmann::json::parse(rendezvous::HostListJson(hosts));
  EXPECT_TRUE(json[0]["address"].is_null());
  EXPECT_EQ(json[1]["node"], "h2");
  EXPECT_EQ(json[1]["age_seconds"], 90);
}

TEST(JobListTableTest, EachJobHasOneLine) {
  rendezvous::JobStatus other = Running();
  other.run_id = "a-run-id-that-is-longer-than-anybody-wants";
  EXPECT_EQ("\n" + JobListTable({Running(), other},
                                TextTarget{TextStyle::kPlain, 100}),
            R"(
JOB                           PHASE    ROUND  WORLD  RESTARTS  AGE     REASON
exp-7                         running  3      3      1/3       1h 12m  round 3 runs on 2 nodes si...
a-run-id-that-is-longer-t...  running  3      3      1/3       1h 12m  round 3 runs on 2 nodes si...
)");
  EXPECT_EQ(JobListTable({}, {}), "no jobs\n");
}

TEST(StatusJsonTest, HasTheFieldsOfTheTable) {
  rendezvous::JobStatus job = Running();
  job.reason = "not UTF-8: \xff";
  job.nodes[0].progress = {{.local_rank = 0, .step = 7, .loss = 0.5},
                           {.local_rank = 1,
                            .loss = std::numeric_limits<double>::quiet_NaN(),
                            .silent_for = std::chrono::seconds(2),
                            .deadline = std::chrono::seconds(30)}};
  nlohmann::json json = nlohmann::json::parse(rendezvous::StatusJson(job));
  EXPECT_EQ(json, nlohmann::json::parse(rendezvous::StatusJsonLine(job)));
  EXPECT_EQ(json["run_id"], "exp-7");
  EXPECT_EQ(json["phase"], "running");
  EXPECT_EQ(json["phase_age_seconds"], 754.0);
  EXPECT_TRUE(json["verdict"].is_null());
  ASSERT_EQ(json["nodes"].size(), 3u);
  const nlohmann::json& progress = json["nodes"][0]["progress"];
  ASSERT_EQ(progress.size(), 2u);
  EXPECT_EQ(progress[0]["rank"], 0);
  EXPECT_EQ(progress[0]["step"], 7);
  EXPECT_EQ(progress[0]["loss"], 0.5);
  EXPECT_TRUE(progress[0]["deadline_seconds"].is_null());
  EXPECT_EQ(progress[1]["rank"], 1);
  EXPECT_EQ(progress[1]["loss"], "nan");
  EXPECT_TRUE(progress[1]["step"].is_null());
  EXPECT_EQ(progress[1]["silent_seconds"], 2.0);
  EXPECT_EQ(progress[1]["deadline_seconds"], 30.0);
  EXPECT_TRUE(json["nodes"][2]["progress"].empty());
  EXPECT_EQ(json["nodes"][1]["group_rank"], 1);
  EXPECT_EQ(json["nodes"][1]["draining"], true);
  EXPECT_TRUE(json["nodes"][2]["group_rank"].is_null());

  job.verdict.emplace();
  job.verdict->outcome = rendezvous::Outcome::kTimedOut;
  job.verdict->cause.emplace();
  job.verdict->cause->rank = 3;
  nlohmann::json list =
      nlohmann::json::parse(rendezvous::JobListJson({job, Running()}));
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0]["verdict"]["outcome"], "timed out");
  EXPECT_EQ(list[0]["verdict"]["cause"]["rank"], 3);
}

TEST(StatusTableTest, ShowsUnhealthyNodesAndThePreemption) {
  rendezvous::JobStatus job = Running();
  job.nodes[2].health = rendezvous::Health::kUnhealthy;
  job.nodes[2].unhealthy = "GPU 3 has fallen\noff the bus";
  job.preemption = rendezvous::PreemptionNotice{
      10, "host-b", std::chrono::milliseconds(118'000)};
  const std::string table = StatusTable(job, {});
  EXPECT_THAT(table, HasSubstr("unhealthy: GPU 3 has fallen"));
  EXPECT_THAT(table, HasSubstr("preempted    SIGUSR1 at host-b, 1m 58s left"));
  const auto json = nlohmann::json::parse(rendezvous::StatusJson(job));
  EXPECT_EQ(json["nodes"][0]["health"], "healthy");
  EXPECT_TRUE(json["nodes"][0]["unhealthy"].is_null());
  EXPECT_EQ(json["nodes"][2]["health"], "unhealthy");
  EXPECT_EQ(json["nodes"][2]["unhealthy"], "GPU 3 has fallen\noff the bus");
  EXPECT_EQ(json["preemption"]["signal"], "SIGUSR1");
  EXPECT_EQ(json["preemption"]["seconds_left"], 118);
  job.nodes[2].health = rendezvous::Health::kUnchecked;
  EXPECT_THAT(StatusTable(job, {}), HasSubstr("being checked"));
}

constexpr double kTime = 1771337471.25;

rendezvous::Decision Break() {
  return {"break", 2, "host-b", "rank 3 was killed by SIGKILL"};
}

TEST(DecisionLineTest, ShowsTimeRoundDecisionAndReason) {
  EXPECT_EQ(DecisionLine(Break(), kTime, TextStyle::kPlain),
            "2026-02-17 14:11:11 UTC  round 2  break    host-b: rank 3 was "
            "killed by SIGKILL\n");
  EXPECT_EQ(DecisionLine({"finish", 3, "", "all workers\nsucceeded"}, kTime,
                         TextStyle::kPlain),
            "2026-02-17 14:11:11 UTC  round 3  finish   all workers "
            "succeeded\n");
}

}  // namespace
}  // namespace muster::launcher
