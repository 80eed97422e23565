#include "agent/agent.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <mutex>

#include "base/channel_key.h"

namespace muster::agent {
namespace {

using ::testing::HasSubstr;

// A link to a simulated coordinator, which answers each report with the result
// of a given function.
class ScriptedLink : public rendezvous::CoordinatorLink {
 public:
  using Answer = std::function<std::optional<rendezvous::Directive>(
      const rendezvous::Report&)>;
  explicit ScriptedLink(Answer answer) : answer_(std::move(answer)) {}

  void Open(rendezvous::LinkEvents events) override {
    events_ = std::move(events);
    events_.on_connected("127.0.0.1", "127.0.0.1", "127.0.0.1:29400");
  }
  void Send(const rendezvous::Report& report) override {
    std::optional<rendezvous::Directive> directive = answer_(report);
    if (!directive.has_value()) return;
    directive->epoch = 1;
    directive->revision = ++revision_;
    directive->place.master_port = report.offered_master_port;
    events_.on_directive(*directive);
  }
  void Close() override {}

 private:
  const Answer answer_;
  rendezvous::LinkEvents events_;
  uint64_t revision_ = 0;
};

rendezvous::Directive ToldToRun(int round) {
  rendezvous::Directive directive;
  directive.kind = rendezvous::DirectiveKind::kRun;
  directive.place.round = round;
  directive.place.world_size = 2;
  directive.place.role_world_size = 2;
  directive.place.master_address = "127.0.0.1";
  return directive;
}

rendezvous::Directive Finished(int exit_code) {
  rendezvous::Directive directive;
  directive.kind = rendezvous::DirectiveKind::kFinished;
  directive.verdict.exit_code = exit_code;
  return directive;
}

// The process ids of this process's children that make NCCL ids.
std::vector<pid_t> NcclIdProcesses() {
  std::vector<pid_t> found;
  std::ifstream children("/proc/self/task/" + std::to_string(getpid()) +
                         "/children");
  for (pid_t pid; children >> pid;) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/cmdline");
    std::string command;
    std::getline(file, command, '\0');
    if (command.find("staged_nccl_id_process") != std::string::npos) {
      found.push_back(pid);
    }
  }
  return found;
}

class AgentTest : public ::testing::Test {
 protected:
  AgentTest() {
    guardian_ = *Guardian::Fork();
    options_.run_id = "job";
    options_.node.node_id = "n";
    options_.node.host = "host";
    options_.node.slots = 2;
    options_.environment.run_id = "job";
    options_.environment.local_world_size = 2;
    options_.logs.directory = ::testing::TempDir() + "/logs";
    options_.logs.run_name = "job";
    options_.spec.shutdown_timeout = std::chrono::seconds(2);
    options_.signals_to_handle = {SIGTERM};
    options_.policy.signals_to_forward = {SIGUSR1};
  }

  AgentResult RunShell(const std::string& script, ScriptedLink::Answer answer) {
    options_.argv = {"/bin/bash", "-c", script};
    ScriptedLink link(std::move(answer));
    Agent agent(options_, guardian_.get(), &link,
                {.on_notice = [this](const std::string& line) {
                  std::lock_guard<std::mutex> lock(notices_mutex_);
                  notices_ += line + "\n";
                }});
    return agent.Run();
  }

  AgentOptions options_;
  std::unique_ptr<Guardian> guardian_;
  std::mutex notices_mutex_;
  std::string notices_;
};

TEST_F(AgentTest, SuccessfulRoundIsReported) {
  const AgentResult result = RunShell(
      "exit 0",
      [](const rendezvous::Report& report)
          -> std::optional<rendezvous::Directive> {
        if (report.phase == rendezvous::NodePhase::kSucceeded)
          return Finished(0);
        return report.round == 0 ? std::optional(ToldToRun(1)) : std::nullopt;
      });
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(result.verdict.has_value());
}

TEST_F(AgentTest, OffersAPortBeforeItIsNeeded) {
  int offered = 0;
  RunShell("exit 0", [&](const rendezvous::Report& report) {
    offered = report.offered_master_port;
    return Finished(0);
  });
  EXPECT_GT(offered, 0);
}

TEST_F(AgentTest, WorkersReadTheRoundsKeyFromAPipe) {
  options_.spec.encryption = rendezvous::Encryption::kWorkers;
  const std::string key(kChannelKeyBytes, 'k');
  const AgentResult result = RunShell(
      "read -r -N 32 key <&${MUSTER_CHANNEL_KEY_PIPE%%:*}; "
      "[[ $key = " +
          key + " ]] && ! grep -q kkkkkkkk /proc/self/environ",
      [&key](const rendezvous::Report& report)
          -> std::optional<rendezvous::Directive> {
        if (!report.failures.empty()) return Finished(1);
        if (report.phase == rendezvous::NodePhase::kSucceeded)
          return Finished(0);
        if (report.round != 0) return std::nullopt;
        rendezvous::Directive directive = ToldToRun(1);
        directive.place.channel_key = key;
        return directive;
      });
  EXPECT_EQ(result.exit_code, 0) << notices_;
}

TEST_F(AgentTest, ARoundWithoutAKeyIsNotRunInClearText) {
  options_.spec.encryption = rendezvous::Encryption::kWorkers;
  std::string why;
  RunShell("exit 0",
           [&why](const rendezvous::Report& report)
               -> std::optional<rendezvous::Directive> {
             if (report.failures.empty()) return ToldToRun(1);
             why = report.failures[0].message;
             return Finished(1);
           });
  EXPECT_THAT(why, HasSubstr("--encrypt=workers: host got no key"));
  EXPECT_THAT(why, HasSubstr("older Muster"));
}

// The agent offers an NCCL id for each of two rounds. The coordinator assigns
// the offered id to the round. Every worker of the round must find the id in
// its environment.
TEST_F(AgentTest, WorkersGetTheNcclIdThatRankZerosAgentMade) {
  setenv("FAKE_NVML_GPUS", "1", 1);
  options_.nccl_id_program = "agent/nccl_id/staged_nccl_id_process";
  options_.node.slots = 1;
  options_.environment.local_world_size = 1;
  const std::string out = ::testing::TempDir() + "/ids";
  std::remove(out.c_str());
  std::vector<std::string> offered;
  const AgentResult result = RunShell(
      "echo $MUSTER_NCCL_ID >> " + out + "; exit $((2 - MUSTER_ROUND))",
      [&](const rendezvous::Report& report)
          -> std::optional<rendezvous::Directive> {
        if (report.phase == rendezvous::NodePhase::kSucceeded)
          return Finished(0);
        if (report.phase != rendezvous::NodePhase::kIdle ||
            report.offered_nccl_id.empty()) {
          return std::nullopt;
        }
        if (static_cast<int>(offered.size()) > report.round) {
          // The coordinator has already assigned this NCCL id to a round. The
          // report only repeats the id, so the coordinator sends no further
          // directive.
          return std::nullopt;
        }
        offered.push_back(report.offered_nccl_id);
        rendezvous::Directive directive = ToldToRun(report.round + 1);
        directive.place.nccl_id = report.offered_nccl_id;
        return directive;
      });
  unsetenv("FAKE_NVML_GPUS");
  EXPECT_EQ(result.exit_code, 0);
  ASSERT_EQ(offered.size(), 2u);
  EXPECT_NE(offered[0], offered[1]);
  std::ifstream file(out);
  const std::vector<std::string> seen{std::istream_iterator<std::string>(file),
                                      {}};
  EXPECT_THAT(seen, ::testing::ElementsAre(offered[0], offered[1]));
}

TEST_F(AgentTest, AnNcclIdWhoseProcessDiesDuringTheRoundIsReported) {
  setenv("FAKE_NVML_GPUS", "1", 1);
  options_.nccl_id_program = "agent/nccl_id/staged_nccl_id_process";
  options_.node.slots = 1;
  std::string lost;
  const AgentResult result =
      RunShell("exec tail -f /dev/null",
               [&](const rendezvous::Report& report)
                   -> std::optional<rendezvous::Directive> {
                 if (report.round == 0) {
                   // The agent's first report may offer no NCCL id, because the
                   // agent waits only a short time for an id. A later report
                   // then offers the id.
                   if (report.offered_nccl_id.empty()) return std::nullopt;
                   rendezvous::Directive directive = ToldToRun(1);
                   directive.place.nccl_id = report.offered_nccl_id;
                   return directive;
                 }
                 if (report.nccl_root_lost.empty()) {
                   // One process serves the NCCL id of the running round 1.
                   // Another process makes an id for round 2. Kills both. The
                   // agent must then report the loss of round 1's id.
                   for (const pid_t pid : NcclIdProcesses()) kill(pid, SIGKILL);
                   return std::nullopt;
                 }
                 lost = report.nccl_root_lost;
                 return Finished(0);
               });
  unsetenv("FAKE_NVML_GPUS");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(lost, HasSubstr("this round's NCCL id (pid "));
  EXPECT_THAT(lost, HasSubstr("was killed by SIGKILL"));
  EXPECT_THAT(notices_, HasSubstr(lost + "; who has not met"));
}

// The coordinator may assign an NCCL id after the process that serves it has
// died. Here it assigns "spent", an id that no process serves. The agent must
// report this loss when the round begins.
TEST_F(AgentTest, AnNcclIdWhoseProcessDiedBeforeTheRoundIsReported) {
  options_.node.slots = 1;
  std::string lost;
  RunShell("exec tail -f /dev/null",
           [&](const rendezvous::Report& report)
               -> std::optional<rendezvous::Directive> {
             if (report.round == 0) {
               rendezvous::Directive directive = ToldToRun(1);
               directive.place.nccl_id = "spent";
               return directive;
             }
             if (report.nccl_root_lost.empty()) return std::nullopt;
             lost = report.nccl_root_lost;
             return Finished(0);
           });
  EXPECT_THAT(lost, HasSubstr("died before the round began"));
}

TEST_F(AgentTest, AnNcclIdThatCannotBeMadeIsANotice) {
  setenv("STAGED_NCCL_ID", "die", 1);
  options_.nccl_id_program = "agent/nccl_id/staged_nccl_id_process";
  RunShell("exit 0", [](const rendezvous::Report& report) {
    EXPECT_EQ(report.offered_nccl_id, "");
    return Finished(0);
  });
  unsetenv("STAGED_NCCL_ID");
  EXPECT_THAT(notices_, HasSubstr("no NCCL id for this node's workers"));
}

TEST_F(AgentTest, FailedWorkerIsReportedWithItsStderr) {
  std::vector<rendezvous::Failure> failures;
  const AgentResult result = RunShell(
      "[ $LOCAL_RANK = 1 ] && { echo 'last words' >&2; exit 3; }; "
      "exec tail -f /dev/null",
      [&](const rendezvous::Report& report)
          -> std::optional<rendezvous::Directive> {
        failures = report.failures;
        if (report.phase == rendezvous::NodePhase::kIdle && report.round == 1) {
          return Finished(3);
        }
        return report.round == 0 ? std::optional(ToldToRun(1)) : std::nullopt;
      });
  EXPECT_EQ(result.exit_code, 3);
  ASSERT_EQ(failures.size(), 2u);
  EXPECT_EQ(failures[0].kind, rendezvous::FailureKind::kExitCode);
  EXPECT_EQ(failures[0].exit_code, 3);
  EXPECT_EQ(failures[0].rank, 1);
  EXPECT_THAT(failures[0].stderr_tail, ::testing::ElementsAre("last words"));
  // The second failure is that of rank 0, which the agent has stopped because
  // rank 1 had failed.
  EXPECT_EQ(failures[1].kind, rendezvous::FailureKind::kStoppedByUs);
  EXPECT_THAT(notices_, HasSubstr("rank 1"));
}

TEST_F(AgentTest, MissingProgramIsReported) {
  std::vector<rendezvous::Failure> failures;
  options_.node.slots = 1;
  options_.argv = {"/nonexistent/program"};
  ScriptedLink link([&](const rendezvous::Report& report)
                        -> std::optional<rendezvous::Directive> {
    failures = report.failures;
    if (!failures.empty() && report.phase == rendezvous::NodePhase::kIdle) {
      return Finished(127);
    }
    return report.round == 0 ? std::optional(ToldToRun(1)) : std::nullopt;
  });
  Agent agent(options_, guardian_.get(), &link, {});
  EXPECT_EQ(agent.Run().exit_code, 127);
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_EQ(failures[0].kind, rendezvous::FailureKind::kStartFailed);
  EXPECT_THAT(failures[0].message, HasSubstr("/nonexistent/program"));
}

TEST_F(AgentTest, EachSignalIsForwardedOnce) {
  bool told = false;
  const AgentResult result =
      RunShell("trap 'exit 0' USR1; echo up; tail -f /dev/null & wait",
               [&](const rendezvous::Report& report)
                   -> std::optional<rendezvous::Directive> {
                 if (report.phase == rendezvous::NodePhase::kSucceeded)
                   return Finished(0);
                 if (report.round == 0) return ToldToRun(1);
                 if (report.phase == rendezvous::NodePhase::kRunning && !told) {
                   told = true;
                   rendezvous::Directive directive = ToldToRun(1);
                   directive.signals = {{.ordinal = 1, .signal = SIGKILL}};
                   return directive;
                 }
                 // The agent has forwarded the signal, which has killed the
                 // worker. The report must list this as a failure of the
                 // worker.
                 if (!report.failures.empty() &&
                     report.phase == rendezvous::NodePhase::kIdle) {
                   return Finished(report.failures[0].signal);
                 }
                 return std::nullopt;
               });
  EXPECT_EQ(result.exit_code, SIGKILL);
}

TEST_F(AgentTest, WorkersFindTheirStoreServedAndAFolderForTheirRecords) {
  std::vector<rendezvous::Failure> failures;
  RunShell(
      "exec 3<>/dev/tcp/$MASTER_ADDR/$MASTER_PORT && echo served >&2; "
      "[ -d \"$MUSTER_FLIGHT_RECORDER_DIR\" ] && echo folder >&2; exit 3",
      [&](const rendezvous::Report& report)
          -> std::optional<rendezvous::Directive> {
        failures = report.failures;
        if (!failures.empty() && report.phase == rendezvous::NodePhase::kIdle) {
          return Finished(3);
        }
        return report.round == 0 ? std::optional(ToldToRun(1)) : std::nullopt;
      });
  ASSERT_EQ(failures.size(), 2u);
  EXPECT_THAT(failures[0].stderr_tail,
              ::testing::ElementsAre("served", "folder"));
}

TEST_F(AgentTest, LeavesHowItsWorkersEndedBesideTheirRecords) {
  std::string text;
  RunShell(
      "[ $LOCAL_RANK = 1 ] && kill -KILL $$; "
      "exec tail -f /dev/null",
      [&](const rendezvous::Report& report)
          -> std::optional<rendezvous::Directive> {
        std::ifstream file(options_.logs.directory + "/job/attempt_0/" +
                           "workers.0.json");
        text.assign(std::istreambuf_iterator<char>(file), {});
        if (report.phase == rendezvous::NodePhase::kIdle && report.round == 1) {
          return Finished(137);
        }
        return report.round == 0 ? std::optional(ToldToRun(1)) : std::nullopt;
      });
  // Rank 1 was killed first; then the agent stopped rank 0. The file of worker
  // exits must list rank 1 before rank 0.
  const size_t killed = text.find("\"rank\":1,");
  const size_t stopped = text.find("\"rank\":0,");
  ASSERT_NE(killed, std::string::npos) << text;
  ASSERT_NE(stopped, std::string::npos) << text;
  EXPECT_LT(killed, stopped);
  EXPECT_THAT(text.substr(killed, stopped - killed),
              HasSubstr("\"how\":\"killed\",\"exit_code\":0,\"signal\":9"));
  EXPECT_THAT(text.substr(stopped), HasSubstr("\"how\":\"stopped\""));
}

TEST_F(AgentTest, RecordsOfAnEarlierJobAreRemoved) {
  const std::string folder = options_.logs.directory + "/job/attempt_0";
  std::filesystem::create_directories(folder);
  for (const char* name : {"rank_0.json", "rank_1.ring", "rank_2.ring",
                           "workers.0.json", "workers.1.json"}) {
    std::ofstream(folder + "/" + name) << "old";
  }
  RunShell("exit 0",
           [](const rendezvous::Report& report)
               -> std::optional<rendezvous::Directive> {
             if (report.phase == rendezvous::NodePhase::kSucceeded)
               return Finished(0);
             return report.round == 0 ? std::optional(ToldToRun(1))
                                      : std::nullopt;
           });
  for (const char* name : {"rank_0.json", "rank_1.ring", "rank_2.ring",
                           "workers.0.json", "workers.1.json"}) {
    EXPECT_FALSE(std::filesystem::exists(folder + "/" + name)) << name;
  }
}

TEST_F(AgentTest, TakesAMasterOnLoopbackForTheCoordinatorsHost) {
  class FarLink : public ScriptedLink {
   public:
    using ScriptedLink::ScriptedLink;
    void Open(rendezvous::LinkEvents events) override {
      auto connected = events.on_connected;
      events.on_connected = [connected](std::string own, std::string,
                                        std::string endpoint) {
        connected(std::move(own), "192.0.2.7", std::move(endpoint));
      };
      ScriptedLink::Open(std::move(events));
    }
  };
  std::vector<rendezvous::Failure> failures;
  options_.node.slots = 1;
  options_.argv = {"/bin/sh", "-c", "echo master=$MASTER_ADDR >&2; exit 1"};
  rendezvous::Directive run = ToldToRun(1);
  run.place.group_rank = 1;
  run.place.group_world_size = 2;
  FarLink link([&](const rendezvous::Report& report)
                   -> std::optional<rendezvous::Directive> {
    failures = report.failures;
    if (!failures.empty() && report.phase == rendezvous::NodePhase::kIdle) {
      return Finished(1);
    }
    return report.round == 0 ? std::optional(run) : std::nullopt;
  });
  Agent agent(options_, guardian_.get(), &link, {});
  agent.Run();
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_THAT(failures[0].stderr_tail,
              ::testing::ElementsAre("master=192.0.2.7"));
}

TEST_F(AgentTest, ARefusalEndsItWithItsReason) {
  const AgentResult result = RunShell("exit 0", [](const rendezvous::Report&) {
    rendezvous::Directive directive;
    directive.kind = rendezvous::DirectiveKind::kRefused;
    directive.reason = "not you";
    return directive;
  });
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.reason, "not you");
}

TEST_F(AgentTest, UnwritableLogFolderFailsBeforeTheStart) {
  options_.logs.directory = "/proc/no/such/place";
  const AgentResult result =
      RunShell("exit 0", [](const rendezvous::Report&) { return Finished(0); });
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.reason, HasSubstr("/proc/no"));
}

}  // namespace
}  // namespace muster::agent
