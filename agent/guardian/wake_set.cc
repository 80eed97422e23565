#include "agent/guardian/wake_set.h"

#include <sys/epoll.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

namespace muster::agent {
namespace {

constexpr int64_t kNanosecondsPerSecond = 1'000'000'000;

absl::Status Failed(const char* call) {
  return absl::InternalError(std::string("the guardian cannot be watched: ") +
                             call + ": " + std::strerror(errno));
}

}  // namespace

absl::Status WakeSet::Open() {
  epoll_ = OwnedFd(epoll_create1(EPOLL_CLOEXEC));
  if (!epoll_.open()) return Failed("epoll_create1");
  timer_ = OwnedFd(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!timer_.open()) return Failed("timerfd_create");
  return Watch(timer_.get());
}

absl::Status WakeSet::Watch(int fd) {
  if (fd < 0) return absl::OkStatus();
  epoll_event event = {};
  event.events = EPOLLIN;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0) {
    return absl::OkStatus();
  }
  return Failed("epoll_ctl");
}

void WakeSet::Forget(int fd) {
  if (fd >= 0) epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

void WakeSet::RingAfter(std::chrono::nanoseconds wait) {
  // Zero would disable the kernel's timer.
  const int64_t count = std::max<int64_t>(wait.count(), 1);
  itimerspec when = {};
  when.it_value.tv_sec = count / kNanosecondsPerSecond;
  when.it_value.tv_nsec = count % kNanosecondsPerSecond;
  timerfd_settime(timer_.get(), 0, &when, nullptr);
}

void WakeSet::Silence() {
  uint64_t rings;
  while (read(timer_.get(), &rings, sizeof rings) > 0) {
  }
}

}  // namespace muster::agent
