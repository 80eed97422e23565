#include "agent/timers/worker_timers.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"

namespace muster::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A child of this process that waits to be killed.
class WaitingChild {
 public:
  WaitingChild() : pid_(fork()) {
    if (pid_ != 0) return;
    for (;;) pause();
  }
  ~WaitingChild() {
    if (!ended_) kill(pid_, SIGKILL);
    if (!ended_) waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }
  int SignalThatEndedIt() {
    int status = 0;
    ended_ = waitpid(pid_, &status, 0) == pid_;
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }
  bool Runs() { return waitpid(pid_, nullptr, WNOHANG) == 0; }

 private:
  const pid_t pid_;
  bool ended_ = false;
};

class WorkerTimersTest : public ::testing::Test {
 protected:
  WorkerTimersTest() : folder_(::testing::TempDir() + "/XXXXXX") {
    EXPECT_NE(mkdtemp(folder_.data()), nullptr);
  }

  WorkerTimers::Options Enabled(const std::string& path = "") {
    return {.enabled = true,
            .path = path,
            .on_notice = [this](const std::string& line) {
              notices_ += line + "\n";
            }};
  }

  // Writes a timer request as PyTorch's client does.
  static void Ask(const WorkerTimers& timers, pid_t pid, double expires,
                  int signal) {
    const OwnedFd pipe(
        open(timers.path().c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
    ASSERT_TRUE(pipe.open());
    const std::string line = absl::StrCat(
        "{\"version\": 1, \"pid\": ", pid, ", \"scope_id\": \"step\", ",
        "\"expiration_time\": ", expires, ", \"signal\": ", signal, "}\n");
    ASSERT_EQ(write(pipe.get(), line.data(), line.size()),
              static_cast<ssize_t>(line.size()));
  }

  std::string folder_;
  std::string notices_;
};

TEST_F(WorkerTimersTest, AProcessWhoseTimerExpiresGetsItsSignal) {
  WorkerTimers timers(Enabled());
  timers.Open(folder_, getpid());
  EXPECT_EQ(timers.path(), folder_ + "/timers");
  WaitingChild child;
  // The timer's time is 1 s after the beginning of 1970, so it has expired.
  Ask(timers, child.pid(), 1, SIGTERM);
  pollfd readable = {.fd = timers.fd(), .events = POLLIN, .revents = 0};
  ASSERT_EQ(poll(&readable, 1, 30'000), 1);
  timers.Look();
  EXPECT_EQ(child.SignalThatEndedIt(), SIGTERM);
  EXPECT_EQ(timers.ExpiredScope(child.pid()), "step");
  EXPECT_THAT(notices_, HasSubstr("expired; it gets SIGTERM"));
  timers.Open(folder_, getpid());
  EXPECT_EQ(timers.ExpiredScope(child.pid()), "") << "another round";
}

TEST_F(WorkerTimersTest, ATimerThatIsNotDueWaits) {
  WorkerTimers timers(Enabled());
  timers.Open(folder_, getpid());
  EXPECT_FALSE(timers.NextLook(MonotonicNow()).has_value());
  WaitingChild child;
  Ask(timers, child.pid(), 1e12, SIGKILL);
  timers.Look();
  EXPECT_TRUE(child.Runs());
  const Instant now = MonotonicNow();
  EXPECT_EQ(timers.NextLook(now), now + std::chrono::seconds(1));
}

TEST_F(WorkerTimersTest, OtherPeoplesProcessesAreLeftAlone) {
  WaitingChild stranger;
  WaitingChild guardian;
  WorkerTimers timers(Enabled());
  timers.Open(folder_, guardian.pid());
  Ask(timers, stranger.pid(), 1, SIGKILL);
  timers.Look();
  EXPECT_TRUE(stranger.Runs());
  EXPECT_EQ(timers.ExpiredScope(stranger.pid()), "");
}

TEST_F(WorkerTimersTest, InvalidRequestIsPrintedOnce) {
  WorkerTimers timers(Enabled());
  timers.Open(folder_, getpid());
  for (int i = 0; i < 2; ++i) {
    std::ofstream(timers.path()) << "nonsense\n";
    timers.Look();
  }
  EXPECT_THAT(notices_, HasSubstr("is no timer request"));
  EXPECT_EQ(notices_.find('\n'), notices_.size() - 1);
}

TEST_F(WorkerTimersTest, ThePipeThatWasNamedIsServedAndRemoved) {
  const std::string path = folder_ + "/named";
  // Makes a pipe that no process reads, as a killed launcher leaves behind.
  // `timers` must replace this pipe.
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  {
    WorkerTimers timers(Enabled(path));
    timers.Open(folder_, getpid());
    EXPECT_EQ(timers.path(), path);
    WorkerTimers second(Enabled(path));
    second.Open(folder_, getpid());
    EXPECT_THAT(second.path(), IsEmpty());
    EXPECT_THAT(notices_, HasSubstr("another launcher serves this pipe"));
  }
  EXPECT_NE(access(path.c_str(), F_OK), 0);
}

TEST_F(WorkerTimersTest, AFileInItsPlaceIsKept) {
  const std::string path = folder_ + "/file";
  std::ofstream(path) << "precious";
  WorkerTimers timers(Enabled(path));
  timers.Open(folder_, getpid());
  EXPECT_THAT(timers.path(), IsEmpty());
  EXPECT_THAT(notices_, HasSubstr("is there and is no pipe"));
  std::string text;
  std::ifstream(path) >> text;
  EXPECT_EQ(text, "precious");
}

TEST_F(WorkerTimersTest, WithoutTheVariableThereIsNoPipe) {
  const auto options =
      WorkerTimers::FromEnvironment({{"TORCHELASTIC_ENABLE_FILE_TIMER", "0"}});
  WorkerTimers timers(options);
  timers.Open(folder_, getpid());
  EXPECT_THAT(timers.path(), IsEmpty());
  EXPECT_LT(timers.fd(), 0);
  const auto asked =
      WorkerTimers::FromEnvironment({{"TORCHELASTIC_ENABLE_FILE_TIMER", "1"},
                                     {"TORCHELASTIC_TIMER_FILE", "/tmp/t"}});
  EXPECT_TRUE(asked.enabled);
  EXPECT_EQ(asked.path, "/tmp/t");
}

}  // namespace
}  // namespace muster::agent
