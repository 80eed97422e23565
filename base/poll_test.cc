#include "base/poll.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <thread>

#include "base/monotonic_clock.h"
#include "base/owned_fd.h"

namespace muster {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::minutes;

struct Pipe {
  Pipe() {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    read = OwnedFd(ends[0]);
    write = OwnedFd(ends[1]);
  }

  OwnedFd read;
  OwnedFd write;
};

TEST(PollTest, ReadyDescriptorReturnsAtOnce) {
  const Pipe pipe;
  EXPECT_TRUE(PollUntil(pipe.write.get(), POLLOUT, kNoDeadline));
  EXPECT_FALSE(PollUntil(pipe.read.get(), POLLIN, kAtOnce));
  ASSERT_EQ(write(pipe.write.get(), "x", 1), 1);
  EXPECT_TRUE(PollUntil(pipe.read.get(), POLLIN, kNoDeadline));
}

TEST(PollTest, PastDeadlineLooksOnceWithoutWaiting) {
  const Pipe pipe;
  const Instant past = MonotonicNow() - minutes(1);
  EXPECT_FALSE(PollUntil(pipe.read.get(), POLLIN, past));
  ASSERT_EQ(write(pipe.write.get(), "x", 1), 1);
  EXPECT_TRUE(PollUntil(pipe.read.get(), POLLIN, past));
  EXPECT_TRUE(PollUntil(pipe.read.get(), POLLIN, kAtOnce));
}

TEST(PollTest, HangUpIsAnEvent) {
  Pipe pipe;
  pipe.write.Close();
  pollfd fds[] = {{pipe.read.get(), POLLIN, 0}};
  EXPECT_EQ(PollUntil(fds, kNoDeadline), 1);
  EXPECT_EQ(fds[0].revents, POLLHUP);
}

TEST(PollTest, SetsEveryRevents) {
  const Pipe pipe;
  pollfd fds[] = {{pipe.read.get(), POLLIN, POLLIN},
                  {pipe.write.get(), POLLOUT, 0},
                  {-1, POLLIN, POLLIN}};
  EXPECT_EQ(PollUntil(fds, kNoDeadline), 1);
  EXPECT_EQ(fds[0].revents, 0);
  EXPECT_EQ(fds[1].revents, POLLOUT);
  EXPECT_EQ(fds[2].revents, 0);
}

// A wait of a fraction of a millisecond must not end early. The wait would end
// early if the remaining time were rounded down to milliseconds.
TEST(PollTest, NoWaitEndsBeforeItsDeadline) {
  const Pipe pipe;
  for (int i = 0; i < 20; ++i) {
    const Instant deadline = MonotonicNow() + microseconds(100 + 190 * i);
    EXPECT_FALSE(PollUntil(pipe.read.get(), POLLIN, deadline));
    EXPECT_GE(MonotonicNow(), deadline);
    const Instant again = MonotonicNow() + microseconds(100 + 190 * i);
    PauseUntil(again);
    EXPECT_GE(MonotonicNow(), again);
  }
}

// Semaphore on which the signal handler posts once for each signal that it
// catches.
sem_t caught;

// Sends signals to the thread that constructs this object, while `more` returns
// true. Each signal is sent after the previous signal was caught. Then calls
// `done`.
class Interrupter {
 public:
  Interrupter(std::function<bool()> more, std::function<void()> done) {
    sem_init(&caught, 0, 0);
    struct sigaction action = {};
    action.sa_handler = [](int) { sem_post(&caught); };
    sigaction(SIGUSR1, &action, &before_);
    thread_ = std::thread([waiting = pthread_self(), more, done] {
      while (more()) {
        pthread_kill(waiting, SIGUSR1);
        while (sem_wait(&caught) != 0) {
        }
      }
      done();
    });
  }
  ~Interrupter() {
    thread_.join();
    sigaction(SIGUSR1, &before_, nullptr);
    sem_destroy(&caught);
  }

 private:
  struct sigaction before_ = {};
  std::thread thread_;
};

TEST(PollTest, SignalDoesNotEndTheWait) {
  const OwnedFd wake(eventfd(0, EFD_CLOEXEC));
  const Interrupter signals([left = 3]() mutable { return left-- > 0; },
                            [&] { eventfd_write(wake.get(), 1); });
  EXPECT_TRUE(
      PollUntil(wake.get(), POLLIN, MonotonicNow() + std::chrono::hours(1)));
}

// Signals are sent until the wait returns, or until 30 s after its deadline. If
// each signal restarted the time-out, the wait would return only after the last
// signal.
TEST(PollTest, SignalsDoNotMoveTheDeadline) {
  const Instant deadline = MonotonicNow() + milliseconds(20);
  const Instant last_signal = deadline + std::chrono::seconds(30);
  std::atomic<bool> returned = false;
  std::atomic<bool> stopped = false;
  const Interrupter signals(
      [&] { return !returned && MonotonicNow() < last_signal; },
      [&] { stopped = true; });
  EXPECT_FALSE(PollUntil(-1, 0, deadline));
  EXPECT_GE(MonotonicNow(), deadline);
  EXPECT_FALSE(stopped);
  returned = true;
}

}  // namespace
}  // namespace muster
