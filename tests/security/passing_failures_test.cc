// Tests of temporary failures to start a worker, for example because the
// program is still being written, is missing on a file server for a moment, or
// because the user has too many processes. The guardian (the workers' parent
// process) must retry until the worker starts.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>
#include <string>

#include "agent/guardian/guardian.h"
#include "agent/guardian/guardian_harness.h"
#include "base/monotonic_clock.h"
#include "base/owned_fd.h"
#include "base/poll.h"

namespace muster::agent {
namespace {

// Time for which a test watches a guardian that must report nothing.
constexpr std::chrono::milliseconds kQuiet(100);

bool SaysSomething(Guardian& guardian) {
  const Instant end = MonotonicNow() + kQuiet;
  // PollUntil returns true for any message of the guardian. A keep-alive is
  // such a message, but Next returns no event for it. So poll again until
  // kQuiet has passed.
  while (PollUntil(guardian.fd(), POLLIN, end)) {
    if (!guardian.Next().empty()) return true;
  }
  return false;
}

class PassingFailures : public ::testing::Test {
 protected:
  PassingFailures()
      : guardian_(*Guardian::Fork()),
        events_(guardian_.get()),
        program_(::testing::TempDir() + "/passing_failures_" +
                 std::to_string(getpid())) {
    std::filesystem::copy_file(
        "/bin/true", program_,
        std::filesystem::copy_options::overwrite_existing);
    spec_.argv = {program_};
  }
  ~PassingFailures() override { unlink(program_.c_str()); }

  void Start() { ASSERT_TRUE(guardian_->Start(spec_).ok()); }
  void Succeeds() {
    EXPECT_EQ(events_.Await<WorkerEnded>().wait_status, 0);
    events_.Await<AllGone>();
  }

  std::unique_ptr<Guardian> guardian_;
  EventReader events_;
  const std::string program_;
  WorkerSpec spec_;
};

TEST_F(PassingFailures, AProgramThatIsBeingWrittenIsStartedAfterwards) {
  OwnedFd writer(open(program_.c_str(), O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(writer.open());
  Start();
  EXPECT_FALSE(SaysSomething(*guardian_));
  writer.Close();
  events_.Await<WorkerStarted>();
  Succeeds();
}

TEST_F(PassingFailures, AProgramThatWasThereBeforeMayComeBack) {
  Start();
  Succeeds();
  const std::string away = program_ + ".away";
  ASSERT_EQ(rename(program_.c_str(), away.c_str()), 0);
  Start();
  EXPECT_FALSE(SaysSomething(*guardian_));
  ASSERT_EQ(rename(away.c_str(), program_.c_str()), 0);
  events_.Await<WorkerStarted>();
  Succeeds();
}

TEST_F(PassingFailures, AProgramThatWasNeverThereFailsAtOnce) {
  spec_.argv = {program_ + ".mistyped"};
  Start();
  EXPECT_EQ(events_.Await<WorkerNotStarted>().error, ENOENT);
  events_.Await<AllGone>();
}

TEST_F(PassingFailures, AWorkerThatIsTriedAgainEndsBySignals) {
  OwnedFd writer(open(program_.c_str(), O_WRONLY | O_CLOEXEC));
  Start();
  EXPECT_FALSE(SaysSomething(*guardian_));
  guardian_->SignalAll(SIGTERM, Guardian::Reach::kEverything);
  EXPECT_EQ(events_.Await<WorkerEnded>().wait_status, SIGTERM);
  events_.Await<AllGone>();
}

// A user id other than root's, because the kernel does not limit the number of
// root's processes.
constexpr uid_t kUser = 54321;

// Tests a guardian that has reached its limit of processes, so that it cannot
// fork a worker. First, a signal must cancel the pending start: the guardian
// reports a worker that this signal has ended. Then a second start is
// requested, and the limit is raised: the guardian must start the worker. Exits
// with 0 if all steps succeed, otherwise with the number of the failed step.
[[noreturn]] void StartWithoutAFreeProcess() {
  if (setuid(kUser) != 0) _exit(10);
  auto guardian = *Guardian::Fork();
  EventReader events(guardian.get());
  rlimit before = {};
  if (prlimit(guardian->pid(), RLIMIT_NPROC, nullptr, &before) != 0) _exit(11);
  const rlimit none = {1, before.rlim_max};
  if (prlimit(guardian->pid(), RLIMIT_NPROC, &none, nullptr) != 0) _exit(12);
  WorkerSpec spec;
  spec.argv = {"/bin/true"};
  if (!guardian->Start(spec).ok()) _exit(13);
  if (SaysSomething(*guardian)) _exit(14);
  guardian->SignalAll(SIGTERM, Guardian::Reach::kProcessGroups);
  const auto stopped = events.Await<WorkerEnded>();
  if (stopped.wait_status != SIGTERM || !stopped.signalled) _exit(15);
  events.Await<AllGone>();
  if (!guardian->Start(spec).ok()) _exit(16);
  if (SaysSomething(*guardian)) _exit(17);
  if (prlimit(guardian->pid(), RLIMIT_NPROC, &before, nullptr) != 0) _exit(18);
  events.Await<WorkerStarted>();
  if (events.Await<WorkerEnded>().wait_status != 0) _exit(19);
  events.Await<AllGone>();
  guardian.reset();
  _exit(::testing::Test::HasFailure() ? 20 : 0);
}

TEST(PassingFailuresOfFork, AWorkerIsForkedOnceAProcessIsFree) {
  if (getuid() != 0) GTEST_SKIP() << "needs root, to be another user";
  EXPECT_EXIT(StartWithoutAFreeProcess(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace muster::agent
