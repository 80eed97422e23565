#include "launcher/init_process.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>

namespace muster::launcher {
namespace {

constexpr std::chrono::seconds kReapTimeout{30};

// Runs `body` under RunUnderInit in a child process, which does the work of
// process 1.
class InitProcess {
 public:
  explicit InitProcess(const std::function<int()>& body) {
    pid_ = fork();
    if (pid_ == 0) {
      prctl(PR_SET_CHILD_SUBREAPER, 1);
      _exit(RunUnderInit([&] {
        const int code = body();
        _exit(code);
        return code;
      }));
    }
  }

  pid_t pid() const { return pid_; }

  int ExitCode() const {
    int status = 0;
    EXPECT_EQ(waitpid(pid_, &status, 0), pid_);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t pid_;
};

TEST(InitProcess, ReturnsTheProgramsExitCode) {
  EXPECT_EQ(InitProcess([] { return 3; }).ExitCode(), 3);
  EXPECT_EQ(InitProcess([] { return 0; }).ExitCode(), 0);
}

TEST(InitProcess, ASignalsDeathIs128More) {
  EXPECT_EQ(InitProcess([] { return raise(SIGKILL); }).ExitCode(),
            128 + SIGKILL);
}

TEST(InitProcess, PassesSignalsOn) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const InitProcess init([&] {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    sigprocmask(SIG_BLOCK, &signals, nullptr);
    if (write(ready[1], "r", 1) != 1) return 1;
    int signal = 0;
    sigwait(&signals, &signal);
    return signal == SIGUSR1 ? 42 : 1;
  });
  char byte;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  kill(init.pid(), SIGUSR1);
  EXPECT_EQ(init.ExitCode(), 42);
}

TEST(InitProcess, ReapsWhatIsOrphaned) {
  const InitProcess init([] {
    int tell[2];
    if (pipe(tell) != 0) return 1;
    const pid_t middle = fork();
    if (middle == 0) {
      // Start a grandchild, which becomes an orphan when its parent exits.
      const pid_t orphan = fork();
      if (orphan == 0) {
        pause();
        _exit(0);
      }
      if (write(tell[1], &orphan, sizeof(orphan)) != sizeof(orphan)) _exit(1);
      _exit(0);
    }
    pid_t orphan = 0;
    if (read(tell[0], &orphan, sizeof(orphan)) != sizeof(orphan)) return 1;
    waitpid(middle, nullptr, 0);
    kill(orphan, SIGKILL);
    // Wait until the orphan is reaped. Until then it is a zombie, for which
    // kill() succeeds; afterwards kill() fails with ESRCH.
    const auto deadline = std::chrono::steady_clock::now() + kReapTimeout;
    while (kill(orphan, 0) == 0) {
      if (std::chrono::steady_clock::now() > deadline) return 2;
      sched_yield();
    }
    return 0;
  });
  EXPECT_EQ(init.ExitCode(), 0);
}

TEST(InitProcess, ElsewhereTheProgramRunsHere) {
  const pid_t here = getpid();
  EXPECT_EQ(RunAsInit([&] { return getpid() == here ? 5 : 6; }), 5);
}

}  // namespace
}  // namespace muster::launcher
