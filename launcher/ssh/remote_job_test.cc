#include "launcher/ssh/remote_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>

#include "absl/strings/str_cat.h"
#include "agent/lifecycle/agent_policy.h"

namespace muster::launcher {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

RemotePlan PlanOf(int hosts, int least) {
  RemotePlan plan;
  plan.least = least;
  plan.most = hosts;
  plan.rejoin_timeout = std::chrono::seconds(10);
  plan.stop_signals = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};
  plan.alone = hosts == 1;
  plan.node.stop_timeout_ms = 30'000;
  for (int i = 0; i < hosts; ++i) {
    plan.node.hosts.push_back({static_cast<uint32_t>(i),
                               absl::StrCat("h", i),
                               absl::StrCat("h", i),
                               {},
                               {}});
  }
  return plan;
}

// Formats the effects of a step as text.
std::vector<std::string> Words(const std::vector<FrontEffect>& effects) {
  struct Speak {
    std::string operator()(const SendDown& e) const {
      if (const auto* start = std::get_if<StartAgent>(&e.message)) {
        std::string text = absl::StrCat("start ", start->host);
        for (const std::string& flag : start->flags) {
          absl::StrAppend(&text, " ", flag);
        }
        if (start->job_messages == agent::JobMessages::kAssignedAndGeneral) {
          text += " (first)";
        }
        if (start->job_messages == agent::JobMessages::kAssigned) {
          text += " (other)";
        }
        return text;
      }
      const auto& signal = std::get<SignalAgents>(e.message);
      return absl::StrCat("signal ", signal.signal, " to ",
                          signal.host ? absl::StrCat(*signal.host) : "all");
    }
    std::string operator()(const Say& e) const {
      return absl::StrCat(e.kind == Say::Kind::kError ? "error " : "notice ",
                          e.line);
    }
    std::string operator()(const Connect& e) const {
      return absl::StrCat("connect ", e.host);
    }
    std::string operator()(const HangUp&) const { return "hang up"; }
    std::string operator()(const Finish& e) const {
      if (e.own_verdict) {
        return absl::StrCat("finish ", e.exit_code,
                            " own: ", e.own_verdict->reason);
      }
      return absl::StrCat("finish ", e.exit_code, " ", e.verdict);
    }
  };
  std::vector<std::string> words;
  for (const FrontEffect& effect : effects) {
    words.push_back(std::visit(Speak(), effect));
  }
  return words;
}

class RemoteJobTest : public ::testing::Test {
 protected:
  void Begin(RemotePlan plan) { job_.emplace(std::move(plan)); }
  void Begin(int hosts, int least) { Begin(PlanOf(hosts, least)); }

  std::vector<std::string> Up(uint32_t host) {
    return Words(job_->Step(now_, HostUp{host, "10.0.0.1", ""}));
  }
  std::vector<std::string> Failed(uint32_t host) {
    return Words(job_->Step(now_, HostFailed{host, "no way", 1}));
  }
  std::vector<std::string> Lost(uint32_t host) {
    return Words(job_->Step(now_, HostLost{host, "cut"}));
  }
  // Loses the host and connects to it again, ten times, which is the maximum
  // within ten minutes.
  void LoseTenTimes(uint32_t host) {
    for (int i = 0; i < 10; ++i) {
      EXPECT_THAT(Lost(host), ElementsAre(HasSubstr("error "),
                                          absl::StrCat("connect ", host)));
      Up(host);
    }
  }
  std::vector<std::string> Killed(uint32_t host, int code = 137) {
    return Words(job_->Step(now_, AgentKilled{host, code}));
  }
  std::vector<std::string> Ended(uint32_t host, int code,
                                 const std::string& verdict = "") {
    return Words(job_->Step(now_, AgentEnded{host, code, verdict}));
  }
  std::vector<std::string> Signal(int signal) {
    return Words(job_->SignalCaught(now_, signal));
  }
  std::vector<std::string> Closed() { return Words(job_->AllClosed(now_)); }
  // Advances the clock to the job's next deadline. Returns the effects of
  // TimePassed at that time.
  std::vector<std::string> Wait() {
    now_ = job_->NextDeadline().value();
    return Words(job_->TimePassed(now_));
  }
  // Brings all hosts up and starts their agents.
  void Run(RemotePlan plan) {
    const auto hosts = static_cast<uint32_t>(plan.node.hosts.size());
    Begin(std::move(plan));
    for (uint32_t i = 0; i < hosts; ++i) Up(i);
    job_->Step(now_, CoordinatorUp{0, "10.0.0.1", 4711});
  }
  void Run(int hosts, int least) { Run(PlanOf(hosts, least)); }
  // Starts a job in which any other host can take over from host 0, whose agent
  // hosts the first coordinator.
  void RunWithSuccessors(int hosts, int least) {
    RemotePlan plan = PlanOf(hosts, least);
    plan.is_taken_over = true;
    Run(std::move(plan));
    for (uint32_t i = 1; i < static_cast<uint32_t>(hosts); ++i) {
      job_->Step(now_, CoordinatorUp{i, absl::StrCat("10.0.0.", i + 1), 4711});
    }
  }

  Instant now_{};
  std::optional<RemoteJob> job_;
};

TEST_F(RemoteJobTest, TheFirstHostHostsTheCoordinatorAndTheOthersGetItsPort) {
  Begin(3, 3);
  EXPECT_THAT(Up(2), IsEmpty());
  EXPECT_THAT(Up(0), IsEmpty());
  EXPECT_THAT(Up(1), ElementsAre("start 0 --rdzv-endpoint=10.0.0.1:0 "
                                 "--rdzv-conf=is_host=1 (first)"));
  EXPECT_THAT(
      Words(job_->Step(now_, CoordinatorUp{0, "10.0.0.1", 4711})),
      ElementsAre("notice agents start on 3 of 3 hosts; the coordinator is at "
                  "10.0.0.1:4711",
                  "start 1 --rdzv-endpoint=10.0.0.1:4711 --rdzv-conf=is_host=0 "
                  "(other)",
                  "start 2 --rdzv-endpoint=10.0.0.1:4711 --rdzv-conf=is_host=0 "
                  "(other)"));
}

TEST_F(RemoteJobTest, SingleHostStartsWithoutAnEndpoint) {
  Begin(1, 1);
  EXPECT_THAT(Up(0), ElementsAre("start 0"));
  EXPECT_THAT(Ended(0, 0, "fine\n"), ElementsAre("hang up"));
  EXPECT_THAT(Closed(), ElementsAre("finish 0 fine\n"));
}

TEST_F(RemoteJobTest, WithoutACoordinatorWaitingHostsAreDisconnected) {
  Begin(2, 2);
  Up(1);
  Up(0);
  EXPECT_THAT(Ended(0, 127),
              ElementsAre("error h0: its agent ended with status 127",
                          "signal 15 to all", "hang up"));
  // After the effect "hang up" (HangUp), each host is expected to close its
  // connection. So the end of host 1's connection is not reported as an error.
  EXPECT_THAT(Lost(1), IsEmpty());
  EXPECT_THAT(Closed(), ElementsAre("finish 127 "));
}

TEST_F(RemoteJobTest, HostsThatComeAfterTheEndAreIgnored) {
  Begin(4, 1);
  Up(0);
  job_->Step(now_, CoordinatorUp{0, "10.0.0.1", 4711});
  EXPECT_THAT(Ended(0, 0, "fine\n"), ElementsAre("hang up"));
  EXPECT_THAT(Up(1), IsEmpty());
  EXPECT_THAT(Lost(1), IsEmpty());
  EXPECT_THAT(Lost(2), IsEmpty());
  EXPECT_THAT(Failed(3), IsEmpty());
  EXPECT_THAT(Closed(), ElementsAre("finish 0 fine\n"));
}

TEST_F(RemoteJobTest, WithAGivenMeetingPointAllStartAtOnce) {
  RemotePlan plan = PlanOf(2, 2);
  plan.endpoints = {{"x", 5}};
  Begin(plan);
  Up(0);
  EXPECT_THAT(Up(1), ElementsAre("start 0 --rdzv-endpoint=x:5 (first)",
                                 "start 1 --rdzv-endpoint=x:5 (other)"));
}

TEST_F(RemoteJobTest, AllFailedHostsAreNamedOnceEveryHostHasAnswered) {
  Begin(3, 3);
  EXPECT_THAT(Failed(1), IsEmpty());
  EXPECT_THAT(Up(0), IsEmpty());
  EXPECT_THAT(Failed(2),
              ElementsAre("error h1: no way", "error h2: no way",
                          "error 2 of 3 hosts cannot take part; nothing was "
                          "started",
                          "hang up"));
  EXPECT_THAT(Lost(0), IsEmpty());
  EXPECT_THAT(Closed(), ElementsAre("finish 1 "));
}

TEST_F(RemoteJobTest, AnElasticJobStartsWithMinHosts) {
  Begin(4, 2);
  EXPECT_THAT(Up(2), IsEmpty());
  // The job needs two hosts, and hosts 1 and 2 are up. But host 0, the first in
  // the list, has not answered yet, so no agent starts.
  EXPECT_THAT(Up(1), IsEmpty());
  EXPECT_THAT(Failed(0),
              ElementsAre("error h0: no way; the job starts without it",
                          "start 1 --rdzv-endpoint=10.0.0.1:0 "
                          "--rdzv-conf=is_host=1 (first)"));
  EXPECT_EQ(Words(job_->Step(now_, CoordinatorUp{1, "10.0.0.1", 7})).size(),
            2u);
  // Host 3 comes up only after the job has started: its agent is started too,
  // and joins the job.
  EXPECT_THAT(Up(3), ElementsAre(HasSubstr("start 3 ")));
}

TEST_F(RemoteJobTest, WithAllThatAnswerTheJobStartsWithoutFailedHosts) {
  RemotePlan plan = PlanOf(4, 1);
  plan.beginning = Beginning::kWithAllThatAnswer;
  Begin(plan);
  EXPECT_THAT(Up(0), IsEmpty());
  EXPECT_THAT(Failed(1), IsEmpty());
  EXPECT_THAT(Up(3), IsEmpty());
  EXPECT_THAT(Failed(2), ElementsAre(HasSubstr("start 0 ")));
  EXPECT_THAT(
      Words(job_->Step(now_, CoordinatorUp{0, "10.0.0.1", 4711})),
      ElementsAre(HasSubstr("2 of 4 hosts"), HasSubstr("--nnodes=1:2")));
}

TEST_F(RemoteJobTest, WithAllThatAnswerNoHostIsAnError) {
  RemotePlan plan = PlanOf(2, 1);
  plan.beginning = Beginning::kWithAllThatAnswer;
  Begin(plan);
  EXPECT_THAT(Failed(0), IsEmpty());
  EXPECT_THAT(Failed(1),
              ElementsAre(HasSubstr("h0: no way"), HasSubstr("h1: no way"),
                          HasSubstr("nothing was started"), "hang up"));
}

TEST_F(RemoteJobTest, ALateFailureInAnElasticJobOnlyPrintsAnError) {
  Begin(3, 2);
  Up(0);
  Up(1);
  EXPECT_THAT(Failed(2), ElementsAre("error h2: no way"));
}

TEST_F(RemoteJobTest, TheVerdictIsPrintedOnceAndSetsTheExitCode) {
  Run(2, 2);
  EXPECT_THAT(Ended(1, 7, "FAILED\n"), IsEmpty());
  EXPECT_THAT(Ended(0, 7, "FAILED\n"), ElementsAre("hang up"));
  EXPECT_THAT(Closed(), ElementsAre("finish 7 FAILED\n"));
}

TEST_F(RemoteJobTest, TheFirstOfTwoVerdictsCounts) {
  Run(2, 2);
  Ended(1, 7, "FAILED\n");
  Ended(0, 0, "SUCCEEDED\n");
  EXPECT_THAT(Closed(), ElementsAre("finish 7 FAILED\n"));
}

TEST_F(RemoteJobTest, AVerdictThatIsAwaitedSetsANewDeadline) {
  Run(3, 3);
  Lost(1);
  now_ += std::chrono::seconds(20);
  const Instant before = now_;
  Ended(0, 1, "FAILED\n");
  EXPECT_THAT(Wait(), ElementsAre("error h2: its agent did not end in time",
                                  "hang up"));
  EXPECT_EQ(now_ - before, std::chrono::seconds(45));
}

TEST_F(RemoteJobTest, AgentsThatOutliveTheVerdictAreDisconnected) {
  Run(2, 2);
  Ended(1, 7, "FAILED\n");
  EXPECT_THAT(Wait(), ElementsAre("error h0: its agent did not end in time",
                                  "hang up"));
  EXPECT_THAT(Wait(), ElementsAre("finish 7 FAILED\n"));
  EXPECT_EQ(job_->NextDeadline(), std::nullopt);
}

TEST_F(RemoteJobTest, ARequiredAgentThatFailsToStartEndsTheJob) {
  Run(2, 2);
  EXPECT_THAT(Ended(1, 127),
              ElementsAre("error h1: its agent ended with status 127",
                          "signal 15 to all"));
  Ended(0, 143, "stopped by SIGTERM\n");
  EXPECT_THAT(Closed(), ElementsAre("finish 127 "));
}

TEST_F(RemoteJobTest, ARequiredLostHostEndsTheJob) {
  Run(3, 2);
  EXPECT_THAT(Lost(2), ElementsAre("error h2: cut; the job goes on without it; "
                                   "launch connects again",
                                   "connect 2"));
  // Only one of the two needed hosts is left. No signal is sent: the
  // coordinator ends the job, and its verdict names the loss.
  EXPECT_THAT(Lost(1), ElementsAre("error h1: cut; the job needs 2 hosts; "
                                   "launch connects again",
                                   "connect 1"));
  EXPECT_THAT(Ended(0, 1, "only 1 is left\n"),
              ElementsAre("finish 1 only 1 is left\n"));
}

TEST_F(RemoteJobTest, AKilledAgentIsStartedAgain) {
  Run(3, 2);
  EXPECT_THAT(
      Killed(2),
      ElementsAre("error h2: its agent was killed by SIGKILL; it is started "
                  "again",
                  "start 2 --rdzv-endpoint=10.0.0.1:4711 --rdzv-conf=is_host=0 "
                  "(other)"));
  EXPECT_THAT(Killed(1, agent::kWorkersLostExitCode),
              ElementsAre("error h1: the process that starts its workers was "
                          "killed; it is started again",
                          HasSubstr("start 1 ")));
  // Host 0 hosts the coordinator. Its new agent gets the same port as before,
  // because the other agents connect to this port.
  EXPECT_THAT(
      Killed(0),
      ElementsAre("error h0: its agent was killed by SIGKILL; it is started "
                  "again",
                  "start 0 --rdzv-endpoint=10.0.0.1:4711 --rdzv-conf=is_host=1 "
                  "(first)"));
}

TEST_F(RemoteJobTest, AnAgentThatIsKilledTooOftenIsALostHost) {
  Run(3, 2);
  for (int i = 0; i < 10; ++i) {
    EXPECT_THAT(Killed(2),
                ElementsAre(HasSubstr("started again"), HasSubstr("start 2 ")));
  }
  EXPECT_THAT(Killed(2),
              ElementsAre("error h2: its agent was killed by SIGKILL; the job "
                          "goes on without it"));
  for (int i = 0; i < 10; ++i) Killed(1);
  EXPECT_THAT(Killed(1),
              ElementsAre("error h1: its agent was killed by SIGKILL; the job "
                          "needs 2 hosts; the job ends"));
  EXPECT_THAT(Ended(0, 1, "only 1 is left\n"), ElementsAre("hang up"));
  EXPECT_THAT(Closed(), ElementsAre("finish 1 only 1 is left\n"));
}

TEST_F(RemoteJobTest, DeathsOfTenMinutesAgoAreForgiven) {
  Run(2, 2);
  for (int i = 0; i < 40; ++i) {
    if (i % 10 == 9) now_ += std::chrono::minutes(10);
    EXPECT_THAT(Killed(1),
                ElementsAre(HasSubstr("started again"), HasSubstr("start 1 ")));
  }
}

TEST_F(RemoteJobTest, TheDoctorStartsNoAgentAgain) {
  RemotePlan plan = PlanOf(2, 1);
  plan.beginning = Beginning::kWithAllThatAnswer;
  Run(std::move(plan));
  EXPECT_THAT(Killed(1), ElementsAre(HasSubstr("goes on without it")));
}

TEST_F(RemoteJobTest, AnAgentThatCannotBeStartedAgainIsALostHost) {
  Run(3, 2);
  Killed(2);
  EXPECT_THAT(Failed(2),
              ElementsAre("error h2: no way; the job goes on without it"));
  Killed(1);
  EXPECT_THAT(
      Failed(1),
      ElementsAre("error h1: no way; the job needs 2 hosts; the job ends"));
  EXPECT_THAT(Ended(0, 1, "only 1 is left\n"), ElementsAre("hang up"));
}

TEST_F(RemoteJobTest, NoKilledAgentStartsAgainAtTheEnd) {
  Run(2, 1);
  Ended(1, 0, "fine\n");
  EXPECT_THAT(Killed(0), ElementsAre("hang up"));
  EXPECT_THAT(Closed(), ElementsAre("finish 0 fine\n"));

  Run(2, 1);
  Signal(SIGINT);
  EXPECT_THAT(Killed(0), IsEmpty());
  EXPECT_THAT(Ended(1, 130, "stopped\n"), ElementsAre("hang up"));
  EXPECT_THAT(Closed(), ElementsAre("finish 130 stopped\n"));
}

TEST_F(RemoteJobTest, TheAgentOfASingleHostIsNotStartedAgain) {
  Begin(1, 1);
  Up(0);
  EXPECT_THAT(Killed(0),
              ElementsAre("error h0: its agent was killed by SIGKILL",
                          "signal 15 to all", "hang up"));
  EXPECT_THAT(Closed(), ElementsAre("finish 137 "));
}

TEST_F(RemoteJobTest, AnAgentKilledBeforeItsCoordinatorListensIsStartedAgain) {
  Begin(2, 2);
  Up(1);
  Up(0);
  EXPECT_THAT(Killed(0),
              ElementsAre("error h0: its agent was killed by SIGKILL; it is "
                          "started again",
                          "start 0 --rdzv-endpoint=10.0.0.1:0 "
                          "--rdzv-conf=is_host=1 (first)"));
  EXPECT_THAT(Words(job_->Step(now_, CoordinatorUp{0, "10.0.0.1", 4711})),
              ElementsAre(HasSubstr("notice "), HasSubstr("start 1 ")));
}

TEST_F(RemoteJobTest, AnotherHostTakesOverFromALostCoordinator) {
  RunWithSuccessors(4, 2);
  EXPECT_THAT(Lost(0), ElementsAre("error h0: cut; the job goes on without it; "
                                   "launch connects again",
                                   "connect 0"));
  EXPECT_EQ(job_->NextDeadline(), std::nullopt);
  // An agent that starts now gets the endpoints of all other running agents,
  // because any of them may have the coordinator.
  EXPECT_THAT(Killed(2),
              ElementsAre(HasSubstr("it is started again"),
                          "start 2 "
                          "--rdzv-endpoint=10.0.0.2:4711,10.0.0.4:4711 "
                          "--rdzv-conf=is_host=0 (other)"));
  // The coordinator has moved to another host. So the agent of host 0 gets
  // is_host=0 and the endpoints of the other agents.
  EXPECT_THAT(Up(0), ElementsAre("error h0: is connected again",
                                 "start 0 --rdzv-endpoint=10.0.0.2:4711,"
                                 "10.0.0.4:4711 --rdzv-conf=is_host=0 "
                                 "(first)"));
}

// The coordinator's host is lost, and no other host takes over. So the other
// agents end without a verdict. The error message must name the loss of the
// coordinator's host.
TEST_F(RemoteJobTest, AgentsThatFindNoCoordinatorNameItsLoss) {
  RunWithSuccessors(3, 2);
  Lost(0);
  const std::string why =
      "h1: its agent ended with status 1; the job needs 2 hosts; the first "
      "coordinator's host was lost before: h0: cut";
  EXPECT_THAT(Ended(1, 1), ElementsAre("error " + why + "; the job ends"));
  EXPECT_THAT(Ended(2, 1),
              ElementsAre("error h2: its agent ended with status 1",
                          "signal 15 to all", "finish 1 own: " + why));
}

TEST_F(RemoteJobTest, TheFirstHostIsNeededUntilItsCoordinatorListens) {
  RemotePlan plan = PlanOf(3, 2);
  plan.is_taken_over = true;
  Begin(std::move(plan));
  for (const uint32_t host : {0, 1, 2}) Up(host);
  EXPECT_THAT(Lost(0), ElementsAre("error h0: cut; it hosted the coordinator; "
                                   "launch connects again",
                                   "connect 0"));
  EXPECT_THAT(Up(0), ElementsAre("error h0: is connected again",
                                 "start 0 --rdzv-endpoint=10.0.0.1:0 "
                                 "--rdzv-conf=is_host=1 (first)"));
  EXPECT_EQ(job_->NextDeadline(), std::nullopt);
}

TEST_F(RemoteJobTest, AStopForgetsTheVerdictThatIsAwaited) {
  Run(3, 3);
  Lost(2);
  // The job waits for a verdict on the loss of host 2. But an agent that exits
  // with code 127 (program not found) ends the job at once.
  EXPECT_THAT(Ended(1, 127),
              ElementsAre(HasSubstr("status 127"), "signal 15 to all"));
  EXPECT_THAT(Wait(), ElementsAre("error h0: its agent did not end in time",
                                  "hang up"));
  EXPECT_THAT(Wait(), ElementsAre("finish 127 "));
}

TEST_F(RemoteJobTest, TheSuccessorGivesTheVerdictOnTheLossOfItsPredecessor) {
  RunWithSuccessors(3, 3);
  EXPECT_THAT(Lost(0), ElementsAre("error h0: cut; the job needs 3 hosts; "
                                   "launch connects again",
                                   "connect 0"));
  Ended(1, 1, "only 2 are left\n");
  EXPECT_THAT(Ended(2, 1, "only 2 are left\n"),
              ElementsAre("finish 1 only 2 are left\n"));
}

TEST_F(RemoteJobTest, ALossWithoutAVerdictInTimeGetsTheFrontsVerdict) {
  Run(2, 2);
  Lost(1);
  const Instant before = now_;
  EXPECT_THAT(Wait(), ElementsAre("signal 15 to all"));
  EXPECT_GE(now_ - before, std::chrono::seconds(40));
  EXPECT_THAT(Ended(0, 143, "stopped by SIGTERM\n"),
              ElementsAre("finish 1 own: h1: cut; the job needs 2 hosts"));
}

TEST_F(RemoteJobTest, WithASeparateCoordinatorTheFrontJudgesALoss) {
  RemotePlan plan = PlanOf(2, 2);
  plan.endpoints = {{"x", 5}};
  plan.rejoin_timeout.reset();
  Begin(plan);
  Up(0);
  Up(1);
  Killed(1);
  EXPECT_THAT(Failed(1),
              ElementsAre("error h1: no way; the job needs 2 hosts; the job "
                          "ends",
                          "signal 15 to all"));
  EXPECT_THAT(Ended(0, 143), ElementsAre("hang up"));
  EXPECT_THAT(Closed(),
              ElementsAre("finish 1 own: h1: no way; the job needs 2 hosts"));
}

TEST_F(RemoteJobTest, LosingTheCoordinatorWhileItsVerdictIsAwaitedIsReported) {
  Run(3, 3);
  Lost(1);
  EXPECT_THAT(Lost(0), ElementsAre("error h0: cut", "connect 0"));
  EXPECT_THAT(Wait(), ElementsAre("signal 15 to all"));
  EXPECT_THAT(Ended(2, 143),
              ElementsAre("finish 1 own: h1: cut; the job needs 3 hosts"));
}

TEST_F(RemoteJobTest, ACoordinatorThatIsGivenUpGivesNoVerdict) {
  Run(4, 4);
  LoseTenTimes(0);
  Lost(1);
  EXPECT_THAT(Lost(0), ElementsAre("error h0: cut", "signal 15 to all"));
}

TEST_F(RemoteJobTest, CtrlCDoesNotWaitForTheVerdictOnALoss) {
  Run(2, 2);
  Lost(1);
  Signal(SIGINT);
  EXPECT_THAT(Ended(0, 130, "stopped\n"), ElementsAre("finish 130 stopped\n"));
  Run(2, 2);
  Lost(1);
  Signal(SIGINT);
  EXPECT_THAT(Wait(), ElementsAre("error h0: its agent did not end in time",
                                  "hang up"));
}

TEST_F(RemoteJobTest, ALostHostIsConnectedToUntilItIsBack) {
  Run(3, 2);
  Lost(2);
  EXPECT_THAT(Failed(2), ElementsAre("error h2: no way; launch tries again"));
  for (const int wait : {1, 2, 4, 8, 16, 16}) {
    const Instant before = now_;
    EXPECT_THAT(Wait(), ElementsAre("connect 2"));
    EXPECT_EQ(now_ - before, std::chrono::seconds(wait));
    EXPECT_THAT(Failed(2), IsEmpty());
  }
  Wait();
  EXPECT_THAT(Up(2), ElementsAre("error h2: is connected again",
                                 HasSubstr("start 2 ")));
  EXPECT_EQ(job_->NextDeadline(), std::nullopt);
  // Host 2 has come back and is lost a second time. Each loss is reported, and
  // each time the first attempt to connect again is made at once.
  EXPECT_THAT(Lost(2), ElementsAre(HasSubstr("error h2: cut; "), "connect 2"));
  EXPECT_THAT(Lost(2), ElementsAre(HasSubstr("error h2: cut; launch tries")));
}

TEST_F(RemoteJobTest, AnAgentThatWaitsForAnEarlierOneIsReported) {
  Run(3, 2);
  Lost(2);
  Up(2);
  EXPECT_THAT(Words(job_->Step(now_, AgentWaits{2})),
              ElementsAre(HasSubstr("error h2: the agent of the lost")));
  EXPECT_EQ(job_->NextDeadline(), std::nullopt);
}

TEST_F(RemoteJobTest, AnAgentThatWaitsGetsNoForwardedSignal) {
  Run(3, 2);
  Lost(0);
  Up(0);
  job_->Step(now_, AgentWaits{0});
  EXPECT_THAT(Signal(SIGUSR1), ElementsAre("signal 10 to 1"));
  job_->Step(now_, OutputCame{0, OutputStream::kStderr, "started\n"});
  EXPECT_THAT(Signal(SIGUSR1), ElementsAre("signal 10 to 0"));
}

TEST_F(RemoteJobTest, ALostHostIsGivenUpAfterTenMinutes) {
  Run(3, 2);
  Lost(2);
  now_ += std::chrono::minutes(10);
  EXPECT_THAT(Failed(2), ElementsAre("error h2: was not connected to for 10 "
                                     "minutes (no way); launch does not try "
                                     "again"));
  EXPECT_EQ(job_->NextDeadline(), std::nullopt);
}

TEST_F(RemoteJobTest, AHostThatIsLostTooOftenIsNotConnectedToAgain) {
  Run(3, 2);
  LoseTenTimes(2);
  EXPECT_THAT(Lost(2),
              ElementsAre("error h2: cut; the job goes on without it"));
}

TEST_F(RemoteJobTest, AHostThatIsBackInTimeEndsTheWaitForAVerdict) {
  Run(2, 2);
  Lost(1);
  Up(1);
  EXPECT_EQ(job_->NextDeadline(), std::nullopt);
  EXPECT_THAT(Ended(0, 0, "fine\n"), IsEmpty());
  EXPECT_THAT(Ended(1, 0), ElementsAre("hang up"));
}

TEST_F(RemoteJobTest, OneOfTwoHostsThatAreBackDoesNotEndTheWait) {
  RunWithSuccessors(4, 3);
  Lost(2);
  Lost(3);
  Lost(1);
  Up(3);
  EXPECT_NE(job_->NextDeadline(), std::nullopt);
  Up(2);
  EXPECT_EQ(job_->NextDeadline(), std::nullopt);
}

// After all hosts are lost, no process knows the job's rounds, or whether the
// job has ended. So the job is not started again.
TEST_F(RemoteJobTest, TheLossOfAllHostsEndsTheJob) {
  RunWithSuccessors(3, 2);
  Lost(0);
  Lost(1);
  EXPECT_THAT(Lost(2),
              ElementsAre("error h2: cut", "connect 2", "signal 15 to all",
                          "finish 1 own: h1: cut; the job needs 2 hosts; the "
                          "first coordinator's host was lost before: h0: cut"));
}

TEST_F(RemoteJobTest, AllHostsMayBeLostBeforeTheCoordinatorListens) {
  Begin(2, 2);
  Up(0);
  Up(1);
  Lost(1);
  Lost(0);
  EXPECT_THAT(Closed(), IsEmpty());
  Up(1);
  EXPECT_THAT(Up(0), ElementsAre(HasSubstr("connected again"),
                                 "start 0 --rdzv-endpoint=10.0.0.1:0 "
                                 "--rdzv-conf=is_host=1 (first)"));
}

TEST_F(RemoteJobTest, AllHostsMayBeLostIfTheUserRunsTheCoordinator) {
  RemotePlan plan = PlanOf(2, 1);
  plan.endpoints = {{"x", 5}};
  Begin(plan);
  Up(0);
  Up(1);
  Lost(1);
  Lost(0);
  EXPECT_THAT(Up(1), ElementsAre(HasSubstr("connected again"),
                                 HasSubstr("start 1 --rdzv-endpoint=x:5")));
}

TEST_F(RemoteJobTest, AJobThatLostHostsCannotSaveEndsAtOnce) {
  RemotePlan plan = PlanOf(3, 2);
  plan.endpoints = {{"x", 5}};
  Begin(plan);
  for (const uint32_t host : {0, 1, 2}) Up(host);
  Ended(0, 0);
  Lost(1);
  EXPECT_THAT(Ended(2, 0),
              ElementsAre("signal 15 to all",
                          "finish 1 own: h1: cut; the job needs 2 hosts"));
}

TEST_F(RemoteJobTest, AJobWhoseAgentsHaveEndedWaitsForNoHost) {
  RemotePlan plan = PlanOf(2, 1);
  plan.most = 1;
  plan.endpoints = {{"x", 5}};
  Begin(plan);
  Up(0);
  Up(1);
  EXPECT_THAT(Ended(0, 0), ElementsAre("hang up"));
}

// The connections to two hosts are lost. Then the agents on the other hosts
// exit with code 0, but without a verdict. The job must count as failed.
TEST_F(RemoteJobTest, WithoutAVerdictALostHostFailsTheJob) {
  RunWithSuccessors(4, 2);
  Lost(0);
  Lost(1);
  Ended(2, 0);
  EXPECT_THAT(Ended(3, 0),
              ElementsAre("signal 15 to all",
                          "finish 1 own: h0: cut; no agent is left that knows "
                          "the verdict"));
}

// The coordinator listens, but no round has begun. So no other agent can take
// over, and the first host has to begin the job.
TEST_F(RemoteJobTest, BeforeARoundTheFirstHostHostsTheCoordinatorAgain) {
  RemotePlan plan = PlanOf(3, 2);
  plan.is_taken_over = true;
  Run(std::move(plan));
  Lost(0);
  EXPECT_THAT(Up(0), ElementsAre(HasSubstr("connected again"),
                                 "start 0 --rdzv-endpoint=10.0.0.1:4711 "
                                 "--rdzv-conf=is_host=1 (first)"));
}

TEST_F(RemoteJobTest, AnotherLostHostLeavesTheCoordinatorInItsPlace) {
  RunWithSuccessors(4, 2);
  Lost(3);
  EXPECT_THAT(Killed(0), ElementsAre(HasSubstr("it is started again"),
                                     "start 0 --rdzv-endpoint=10.0.0.1:4711 "
                                     "--rdzv-conf=is_host=1 (first)"));
}

TEST_F(RemoteJobTest, AnAgentIsGivenNoMoreEndpointsThanItAccepts) {
  RunWithSuccessors(20, 2);
  Lost(0);
  const std::vector<std::string> done = Up(0);
  ASSERT_EQ(done.size(), 2u);
  EXPECT_EQ(std::ranges::count(done[1], ','), rendezvous::kMaxEndpoints - 1);
}

TEST_F(RemoteJobTest, OnlyTheFirstHostReportsTheFirstCoordinator) {
  Begin(2, 2);
  Up(0);
  Up(1);
  EXPECT_THAT(Words(job_->Step(now_, CoordinatorUp{1, "10.0.0.2", 4711})),
              IsEmpty());
}

TEST_F(RemoteJobTest, AHostWhoseAgentRunsIsNotStartedTwice) {
  Run(2, 2);
  EXPECT_THAT(Up(1), IsEmpty());
}

TEST_F(RemoteJobTest, ACoordinatorWhoseAgentHasLeftIsElsewhere) {
  RunWithSuccessors(4, 2);
  EXPECT_THAT(Ended(0, 0), IsEmpty());
  EXPECT_THAT(Killed(2),
              ElementsAre(HasSubstr("it is started again"),
                          "start 2 "
                          "--rdzv-endpoint=10.0.0.2:4711,10.0.0.4:4711 "
                          "--rdzv-conf=is_host=0 (other)"));
}

TEST_F(RemoteJobTest, TheHostThatIsStillAbsentIsAwaitedAnew) {
  Run(3, 3);
  Lost(0);
  now_ += std::chrono::seconds(3);
  Lost(1);
  now_ += std::chrono::seconds(2);
  Up(0);
  const Instant before = now_;
  EXPECT_THAT(Wait(), ElementsAre("signal 15 to all"));
  EXPECT_EQ(now_ - before, std::chrono::seconds(45));
  Ended(0, 143);
  EXPECT_THAT(Ended(2, 143),
              ElementsAre("finish 1 own: h1: cut; the job needs 3 hosts"));
}

TEST_F(RemoteJobTest, ACoordinatorsHostThatIsGivenUpEndsTheJob) {
  RemotePlan plan = PlanOf(3, 1);
  plan.rejoin_timeout = std::chrono::minutes(20);
  Run(std::move(plan));
  Lost(0);
  now_ += std::chrono::minutes(10);
  EXPECT_THAT(Failed(0), ElementsAre(HasSubstr("launch does not try again"),
                                     "signal 15 to all"));
}

TEST_F(RemoteJobTest, CtrlCWhileNoAgentRunsEndsAtOnce) {
  Begin(2, 2);
  Up(1);
  Up(0);
  Lost(0);
  EXPECT_THAT(Signal(SIGINT), ElementsAre(HasSubstr("SIGINT"),
                                          "signal 2 to all", "finish 130 "));
}

TEST_F(RemoteJobTest, NoHostIsConnectedToAgainAtTheEnd) {
  Run(3, 1);
  Lost(2);
  Failed(2);
  Ended(0, 0, "fine\n");
  EXPECT_THAT(Wait(), IsEmpty());
  EXPECT_THAT(Lost(1), ElementsAre("error h1: cut; the end of its output may "
                                   "be missing",
                                   "finish 0 fine\n"));
}

TEST_F(RemoteJobTest, WithASeparateCoordinatorALostHostMayComeBack) {
  RemotePlan plan = PlanOf(2, 2);
  plan.endpoints = {{"x", 5}};
  plan.rejoin_timeout.reset();
  Begin(plan);
  Up(0);
  Up(1);
  EXPECT_THAT(Lost(1), ElementsAre("error h1: cut; the job needs 2 hosts; "
                                   "launch connects again",
                                   "connect 1"));
  EXPECT_THAT(Wait(), ElementsAre("signal 15 to all"));
}

TEST_F(RemoteJobTest, HostsBeyondMaxAreSparesInTheFilesOrder) {
  RemotePlan plan = PlanOf(5, 1);
  plan.most = 2;
  Begin(plan);
  EXPECT_THAT(Up(0), ElementsAre(HasSubstr("start 0 ")));
  EXPECT_THAT(Up(3), IsEmpty());
  EXPECT_THAT(Up(4), IsEmpty());
  EXPECT_THAT(Words(job_->Step(now_, CoordinatorUp{0, "10.0.0.1", 4711})),
              ElementsAre(HasSubstr("notice agents start on ")));
  // Hosts 3 and 4 are spares, whose agents start some time after those of hosts
  // 0 and 1. This time has not begun, because the agent of host 1 does not run
  // yet, so no deadline is set.
  EXPECT_EQ(job_->NextDeadline(), std::nullopt);
  EXPECT_THAT(Failed(1), ElementsAre("error h1: no way"));
  EXPECT_THAT(Up(2), ElementsAre(HasSubstr("start 2 ")));
  ASSERT_NE(job_->NextDeadline(), std::nullopt);
  EXPECT_THAT(Wait(),
              ElementsAre(HasSubstr("start 3 "), HasSubstr("start 4 ")));
  EXPECT_EQ(job_->NextDeadline(), std::nullopt);
}

TEST_F(RemoteJobTest, ASpareReplacesAFailedHostAtOnce) {
  RemotePlan plan = PlanOf(3, 1);
  plan.most = 2;
  Begin(plan);
  for (const uint32_t host : {0, 1, 2}) Up(host);
  EXPECT_THAT(Words(job_->Step(now_, CoordinatorUp{0, "10.0.0.1", 4711})),
              ElementsAre(HasSubstr("notice "), HasSubstr("start 1 ")));
  EXPECT_THAT(Lost(1), ElementsAre("error h1: cut; the job goes on without it; "
                                   "launch connects again",
                                   HasSubstr("start 2 "), "connect 1"));
}

TEST_F(RemoteJobTest, LosingACoordinatorWithoutSuccessorsEndsTheJob) {
  Run(3, 1);
  const std::string why = "h0: cut; it hosted the coordinator";
  EXPECT_THAT(Lost(0), ElementsAre("error " + why + "; launch connects again",
                                   "connect 0"));
  const Instant before = now_;
  EXPECT_THAT(Wait(), ElementsAre("signal 15 to all"));
  EXPECT_EQ(now_ - before, std::chrono::seconds(15));
  Ended(1, 143);
  EXPECT_THAT(Ended(2, 143), ElementsAre("finish 1 own: " + why));
}

TEST_F(RemoteJobTest, ACoordinatorWithoutSuccessorsMayComeBack) {
  Run(3, 1);
  Lost(0);
  // Host 0, which hosts the coordinator, is lost. Before it is back, host 1 is
  // lost too and comes back. The job still waits for host 0.
  Lost(1);
  Up(1);
  EXPECT_NE(job_->NextDeadline(), std::nullopt);
  EXPECT_THAT(Up(0), ElementsAre("error h0: is connected again",
                                 "start 0 --rdzv-endpoint=10.0.0.1:4711 "
                                 "--rdzv-conf=is_host=1 (first)"));
  EXPECT_EQ(job_->NextDeadline(), std::nullopt);
}

TEST_F(RemoteJobTest, ACoordinatorThatIsLostTooOftenEndsTheJob) {
  Run(2, 1);
  LoseTenTimes(0);
  EXPECT_THAT(Lost(0),
              ElementsAre("error h0: cut; it hosted the coordinator; the job "
                          "ends",
                          "signal 15 to all"));
}

TEST_F(RemoteJobTest, ALossAfterTheVerdictChangesNothing) {
  Run(2, 2);
  Ended(0, 0, "fine\n");
  EXPECT_THAT(Lost(1), ElementsAre("error h1: cut; the end of its output may "
                                   "be missing",
                                   "hang up"));
  EXPECT_THAT(Closed(), ElementsAre("finish 0 fine\n"));
}

TEST_F(RemoteJobTest, CtrlCStopsTheJobAndTheSecondStopsItAtOnce) {
  Run(2, 2);
  EXPECT_THAT(Signal(SIGINT),
              ElementsAre("notice SIGINT: the job is stopped; once more to "
                          "stop it at once",
                          "signal 2 to all"));
  // The second signal differs from the first, because two equal pending signals
  // would be delivered as one.
  EXPECT_THAT(Signal(SIGINT), ElementsAre("signal 15 to all"));
  EXPECT_THAT(Signal(SIGINT),
              ElementsAre("error SIGINT: not waiting for the other hosts",
                          "finish 130 "));
  EXPECT_THAT(Signal(SIGINT), IsEmpty());
}

TEST_F(RemoteJobTest, SighupStopsTheJob) {
  Run(1, 1);
  EXPECT_THAT(Signal(SIGHUP),
              ElementsAre(HasSubstr("SIGHUP"), "signal 1 to all"));
}

TEST_F(RemoteJobTest, AnUnhandledSignalIsSentAsSigterm) {
  RemotePlan plan = PlanOf(1, 1);
  plan.stop_signals = {SIGTERM};
  Begin(plan);
  Up(0);
  EXPECT_THAT(Signal(SIGHUP),
              ElementsAre(HasSubstr("SIGHUP"), "signal 15 to all"));
}

TEST_F(RemoteJobTest, CtrlCBeforeTheStartEndsAtOnce) {
  Begin(2, 2);
  Up(0);
  EXPECT_THAT(Signal(SIGTERM),
              ElementsAre("error SIGTERM: nothing was started", "finish 143 "));
}

TEST_F(RemoteJobTest, NoAgentStartsAfterCtrlC) {
  Begin(2, 2);
  Up(0);
  Up(1);
  Signal(SIGINT);
  job_->Step(now_, CoordinatorUp{0, "10.0.0.1", 4711});
  EXPECT_THAT(Ended(0, 130, "stopped\n"), ElementsAre("hang up"));
  EXPECT_THAT(Closed(), ElementsAre("finish 130 stopped\n"));
}

TEST_F(RemoteJobTest, HostsThatDoNotStopAreDisconnected) {
  Run(2, 2);
  Signal(SIGINT);
  const Instant before = now_;
  EXPECT_THAT(Wait(),
              ElementsAre(HasSubstr("h0: "), HasSubstr("h1: "), "hang up"));
  EXPECT_GE(now_ - before, std::chrono::seconds(30));
  EXPECT_THAT(Wait(), ElementsAre("finish 130 "));
}

TEST_F(RemoteJobTest, OutputAfterTheVerdictExtendsTheDeadline) {
  Run(2, 2);
  Ended(0, 0, "fine\n");
  const Instant first = *job_->NextDeadline();
  now_ = first - std::chrono::seconds(1);
  job_->Step(now_, OutputCame{1, OutputStream::kStdout, "more\n"});
  EXPECT_GT(*job_->NextDeadline(), first);
}

TEST_F(RemoteJobTest, DeadlinesAreSuspendedWhileNothingIsRead) {
  Run(2, 2);
  Ended(0, 0, "fine\n");
  const Instant first = *job_->NextDeadline();
  job_->PutOff(std::chrono::minutes(10));
  EXPECT_EQ(*job_->NextDeadline(), first + std::chrono::minutes(10));
}

TEST_F(RemoteJobTest, OtherSignalsGoToOneAgentOnly) {
  Run(3, 1);
  EXPECT_THAT(Signal(SIGUSR1), ElementsAre("signal 10 to 0"));
  Ended(0, 0);
  EXPECT_THAT(Signal(SIGUSR1), ElementsAre("signal 10 to 1"));
}

TEST_F(RemoteJobTest, MessagesAboutUnknownHostsAreIgnored) {
  Begin(1, 1);
  EXPECT_THAT(Up(1), IsEmpty());
  EXPECT_THAT(Ended(4'000'000'000u, 1), IsEmpty());
}

}  // namespace
}  // namespace muster::launcher
