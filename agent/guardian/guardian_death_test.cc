// Tests that no process is left when a worker, the agent or the guardian dies.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <functional>
#include <vector>

#include "agent/guardian/guardian.h"
#include "agent/guardian/guardian_harness.h"

namespace muster::agent {
namespace {

using ::testing::HasSubstr;
using Acts = std::vector<std::string>;

const Acts kPlain = {"ignore-term", "say-pid", "pause"};
const Acts kSession = {"fork-and-pause", "setsid", "say-pid", "pause"};
const Acts kDaemon = {"fork-and-pause", "fork-and-exit", "setsid",
                      "fork-and-exit",  "say-pid",       "pause"};
const Acts kDaemonOfADeadWorker = {"fork-and-exit", "setsid", "fork-and-exit",
                                   "say-pid", "pause"};
const Acts kHopper = {"fork-and-exit", "setsid", "say-pid", "hop"};

// Starts one test worker for each element of `workers`, the list of actions
// that the worker performs. Waits until every worker has printed its pid, which
// is the second to last action of each list. All earlier actions are then
// complete.
void StartAll(Guardian* guardian, const std::vector<Acts>& workers,
              OutputPipe* out) {
  for (size_t i = 0; i < workers.size(); ++i) {
    const auto spec = Staged(static_cast<int>(i), workers[i], *out);
    ASSERT_TRUE(guardian->Start(spec).ok());
  }
  for (size_t i = 0; i < workers.size(); ++i) ASSERT_NE(out->Line(), "");
}

const std::vector<Acts> kAllKinds = {kPlain, kSession, kDaemon,
                                     kDaemonOfADeadWorker, kHopper};

// Forks a process that acts as an agent: it starts a guardian and one test
// worker for each list of actions in kAllKinds, and then calls the function
// `last` with the guardian. Returns the pid of the process; `*guardian` becomes
// a pidfd of the process's guardian.
pid_t StandInAgent(OutputPipe* out, OwnedFd* guardian,
                   const std::function<void(Guardian*)>& last) {
  const pid_t agent = fork();
  if (agent == 0) {
    setpgid(0, 0);
    auto own = *Guardian::Fork();
    const std::string line = std::to_string(own->pid()) + "\n";
    if (write(out->write_end(), line.data(), line.size()) < 0) _exit(1);
    for (size_t i = 0; i < kAllKinds.size(); ++i) {
      if (!own->Start(Staged(static_cast<int>(i), kAllKinds[i], *out)).ok()) {
        _exit(1);
      }
    }
    last(own.get());
    _exit(0);
  }
  *guardian = OpenPidFd(std::stoi(out->Line()));
  for (size_t i = 0; i < kAllKinds.size(); ++i) out->Line();
  return agent;
}

TEST(GuardianDeath, NothingOutlivesAnAgentThatIsKilled) {
  OutputPipe out;
  OwnedFd guardian;
  const pid_t agent = StandInAgent(&out, &guardian, [](Guardian*) {
    while (true) pause();
  });
  kill(agent, SIGKILL);
  waitpid(agent, nullptr, 0);
  EXPECT_TRUE(out.EveryHolderGone());
  EXPECT_TRUE(Ends(guardian));
}

TEST(GuardianDeath, GuardianRemovesTheFolderOfAKilledAgent) {
  std::string folder = ::testing::TempDir() + "/sockets-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  OutputPipe out;
  OutputPipe asked;
  OwnedFd guardian;
  const pid_t agent = StandInAgent(&out, &guardian, [&](Guardian* own) {
    own->RemoveAfterwards("/nonexistent");
    own->RemoveAfterwards(folder);
    if (write(asked.write_end(), "asked\n", 6) < 0) _exit(1);
    while (true) pause();
  });
  EXPECT_EQ(asked.Line(), "asked");
  EXPECT_EQ(access(folder.c_str(), F_OK), 0);
  kill(agent, SIGKILL);
  waitpid(agent, nullptr, 0);
  EXPECT_TRUE(out.EveryHolderGone());
  EXPECT_TRUE(Ends(guardian));
  EXPECT_NE(access(folder.c_str(), F_OK), 0);
}

TEST(GuardianDeath, GuardianRemovesTheJobFilesOfAKilledAgent) {
  std::string folder = ::testing::TempDir() + "/jobs-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const JobFiles files = {.folder = folder, .names = {"0"}, .job = "job-7"};
  OutputPipe out;
  OutputPipe asked;
  OwnedFd guardian;
  const pid_t agent = StandInAgent(&out, &guardian, [&](Guardian* own) {
    own->RemoveAfterwards(files);
    if (!WriteJobFiles(files).ok()) _exit(1);
    if (write(asked.write_end(), "asked\n", 6) < 0) _exit(1);
    while (true) pause();
  });
  EXPECT_EQ(asked.Line(), "asked");
  EXPECT_EQ(access((folder + "/0").c_str(), F_OK), 0);
  kill(agent, SIGKILL);
  waitpid(agent, nullptr, 0);
  EXPECT_TRUE(out.EveryHolderGone());
  EXPECT_TRUE(Ends(guardian));
  EXPECT_NE(access((folder + "/0").c_str(), F_OK), 0);
  rmdir(folder.c_str());
}

TEST(GuardianDeath, NothingOutlivesAnAgentWhoseWholeGroupIsKilled) {
  OutputPipe out;
  OwnedFd guardian;
  const pid_t agent = StandInAgent(&out, &guardian, [](Guardian*) {
    while (true) pause();
  });
  kill(-agent, SIGKILL);
  waitpid(agent, nullptr, 0);
  EXPECT_TRUE(out.EveryHolderGone());
  EXPECT_TRUE(Ends(guardian));
}

TEST(GuardianDeath, NothingOutlivesAnAgentThatExitsWithoutAWord) {
  OutputPipe out;
  OutputPipe go;
  OwnedFd guardian;
  const pid_t agent =
      StandInAgent(&out, &guardian, [&](Guardian*) { go.Line(); });
  ASSERT_EQ(write(go.write_end(), "\n", 1), 1);
  waitpid(agent, nullptr, 0);
  EXPECT_TRUE(out.EveryHolderGone());
  EXPECT_TRUE(Ends(guardian));
}

TEST(GuardianDeath, NothingOutlivesAGuardianThatIsKilled) {
  const pid_t older_child = fork();
  if (older_child == 0) {
    while (true) pause();
  }
  OutputPipe out;
  auto guardian = *Guardian::Fork();
  auto another = *Guardian::Fork();
  StartAll(guardian.get(), kAllKinds, &out);
  kill(guardian->pid(), SIGKILL);
  EventReader events(guardian.get());
  EXPECT_THAT(events.Await<GuardianLost>().reason,
              HasSubstr("was killed by signal 9"));
  EXPECT_TRUE(out.EveryHolderGone());
  // Only the workers were killed and reaped: `older_child`, which existed
  // before the guardian, and the guardian `another` are alive.
  EXPECT_EQ(kill(older_child, 0), 0);
  EXPECT_EQ(waitpid(older_child, nullptr, WNOHANG), 0);
  EXPECT_EQ(waitpid(another->pid(), nullptr, WNOHANG), 0);
  another.reset();
  kill(older_child, SIGKILL);
  waitpid(older_child, nullptr, 0);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  // Next has already returned GuardianLost, and so returns no further event.
  // Without its guardian, the agent can start no worker.
  EXPECT_TRUE(guardian->Next().empty());
  EXPECT_EQ(guardian->Start(Staged(0, kPlain, OutputPipe())).code(),
            absl::StatusCode::kUnavailable);
  guardian->SignalAll(SIGTERM, Guardian::Reach::kEverything);
}

TEST(GuardianDeath, AnIdleGuardianThatIsKilledIsMissed) {
  auto guardian = *Guardian::Fork();
  kill(guardian->pid(), SIGKILL);
  EventReader events(guardian.get());
  events.Await<GuardianLost>();
}

TEST(GuardianDeath, NothingOutlivesAStoppedGuardianThatIsAbandoned) {
  OutputPipe out;
  auto guardian = *Guardian::Fork();
  StartAll(guardian.get(), kAllKinds, &out);
  kill(guardian->pid(), SIGSTOP);
  siginfo_t stopped = {};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(guardian->pid()), &stopped,
                   WSTOPPED | WNOWAIT),
            0);
  guardian->Abandon("gave no sign");
  EventReader events(guardian.get());
  const std::string reason = events.Await<GuardianLost>().reason;
  EXPECT_THAT(reason, HasSubstr("gave no sign (its state is T, stopped)"));
  EXPECT_THAT(reason, HasSubstr("was killed"));
  EXPECT_TRUE(out.EveryHolderGone());
  guardian->Abandon("again");
  EXPECT_TRUE(guardian->Next().empty());
}

TEST(GuardianDeath, AnIdleGuardianGivesSignsOfLife) {
  auto guardian = *Guardian::Fork();
  while (guardian->signs_of_life() < 2) {
    ASSERT_TRUE(BecomesReadable(guardian->fd()));
    EXPECT_TRUE(guardian->Next().empty());
  }
}

TEST(GuardianDeath, StartFailsOnceTheGuardianIsDead) {
  OutputPipe out;
  auto guardian = *Guardian::Fork();
  const OwnedFd pidfd = OpenPidFd(guardian->pid());
  kill(guardian->pid(), SIGKILL);
  ASSERT_TRUE(Ends(pidfd));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(guardian->Start(Staged(0, kPlain, out)).code(),
              absl::StatusCode::kUnavailable);
  }
  EventReader events(guardian.get());
  events.Await<GuardianLost>();
}

TEST(GuardianDeath, TheDestructorLeavesNothing) {
  OutputPipe out;
  auto guardian = *Guardian::Fork();
  StartAll(guardian.get(), kAllKinds, &out);
  guardian.reset();
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_TRUE(out.EveryHolderGone());
}

TEST(GuardianDeath, KillingEverythingSweepsWhoLeftTheGroups) {
  OutputPipe out;
  auto guardian = *Guardian::Fork();
  StartAll(guardian.get(), kAllKinds, &out);
  guardian->SignalAll(SIGKILL, Guardian::Reach::kEverything);
  EventReader events(guardian.get());
  events.Await<AllGone>();
  EXPECT_TRUE(out.EveryHolderGone());
}

TEST(GuardianDeath, ASignalToEverythingReachesWhoLeftTheGroups) {
  OutputPipe out;
  auto guardian = *Guardian::Fork();
  StartAll(guardian.get(), {kSession, kDaemon, kDaemonOfADeadWorker}, &out);
  guardian->SignalAll(SIGTERM, Guardian::Reach::kEverything);
  EventReader events(guardian.get());
  events.Await<AllGone>();
  EXPECT_TRUE(out.EveryHolderGone());
}

TEST(GuardianDeath, ASignalToGroupsReachesAGroupWhoseLeaderIsGone) {
  OutputPipe inside;
  OutputPipe outside;
  auto guardian = *Guardian::Fork();
  const Acts orphan_in_group = {"fork-and-exit", "say-pid", "pause"};
  const Acts orphan_outside = {"fork-and-exit", "setsid", "say-pid", "pause"};
  ASSERT_TRUE(guardian->Start(Staged(0, orphan_in_group, inside)).ok());
  ASSERT_TRUE(guardian->Start(Staged(1, orphan_outside, outside)).ok());
  inside.Line();
  const pid_t outsider = std::stoi(outside.Line());
  EventReader events(guardian.get());
  events.Await<WorkerEnded>();
  events.Await<WorkerEnded>();
  guardian->SignalAll(SIGTERM, Guardian::Reach::kProcessGroups);
  EXPECT_TRUE(inside.EveryHolderGone());
  EXPECT_EQ(kill(outsider, 0), 0);
  guardian->SignalAll(SIGKILL, Guardian::Reach::kEverything);
  events.Await<AllGone>();
  EXPECT_TRUE(outside.EveryHolderGone());
}

TEST(GuardianDeath, AllGoneWaitsForTheLastDescendant) {
  OutputPipe out;
  auto guardian = *Guardian::Fork();
  StartAll(guardian.get(), {kDaemonOfADeadWorker}, &out);
  EventReader events(guardian.get());
  events.Await<WorkerEnded>();
  // The first worker has exited, but a daemon that it has forked is alive. So
  // the guardian must not have sent AllGone yet. To check this, start another
  // worker. Events arrive in the order in which they were sent, so the next
  // event must be WorkerStarted of this other worker.
  ASSERT_TRUE(guardian->Start(Staged(1, {"exit", "0"}, out)).ok());
  EXPECT_TRUE(std::holds_alternative<WorkerStarted>(events.Next()));
  EXPECT_TRUE(std::holds_alternative<WorkerEnded>(events.Next()));
  guardian->SignalAll(SIGKILL, Guardian::Reach::kEverything);
  EXPECT_TRUE(std::holds_alternative<AllGone>(events.Next()));
}

}  // namespace
}  // namespace muster::agent
