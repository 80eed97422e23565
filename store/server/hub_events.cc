#include "store/server/hub_events.h"

#include <pthread.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/blocked_signals.h"
#include "base/monotonic_clock.h"

namespace muster::store {
namespace {

// Time for which this thread polls for the next event before it sleeps.
// Requests often follow one another. A wake-up costs this thread and the client
// more than the handling of a request.
constexpr Duration kLinger = std::chrono::microseconds(50);

}  // namespace

absl::Status HubEvents::Open() {
  epoll_ = OwnedFd(epoll_create1(EPOLL_CLOEXEC));
  wake_ = OwnedFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (epoll_.open() && wake_.open() && Add(wake_.get(), kStopId, EPOLLIN)) {
    return absl::OkStatus();
  }
  return absl::ResourceExhaustedError(
      absl::StrCat("the store's event loop: ", std::strerror(errno)));
}

bool HubEvents::Add(int fd, uint64_t id, uint32_t events) {
  epoll_event event{.events = events, .data = {.u64 = id}};
  return epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

void HubEvents::Change(int fd, uint64_t id, uint32_t events) {
  epoll_event event{.events = events, .data = {.u64 = id}};
  epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event);
}

void HubEvents::Stop() {
  stop_.store(true, std::memory_order_release);
  const uint64_t one = 1;
  // This write wakes the hub's thread. It can only fail because the eventfd's
  // counter is full. A counter above 0 wakes the thread anyway.
  (void)!write(wake_.get(), &one, sizeof(one));
}

std::span<const epoll_event> HubEvents::Wait(
    std::optional<std::chrono::milliseconds> at_most) {
  const auto poll = [this](int milliseconds) {
    return epoll_wait(epoll_.get(), events_.data(), events_.size(),
                      milliseconds);
  };
  int count = poll(0);
  while (count <= 0 && !stopped() && MonotonicNow() - now_ < kLinger) {
    // Yields the processor to the threads that may send the next request.
    sched_yield();
    count = poll(0);
  }
  if (count <= 0 && !stopped()) {
    count = poll(at_most ? static_cast<int>(at_most->count()) : -1);
  }
  now_ = MonotonicNow();
  return std::span(events_).first(std::max(count, 0));
}

HubThread::~HubThread() { Join(); }

absl::Status HubThread::Start(const std::string& name,
                              std::function<void()> body) {
  // Block all signals while the new thread is started, because it inherits this
  // signal mask.
  const BlockedSignals blocked;
  absl::Status status;
  try {
    thread_ = std::thread(std::move(body));
    pthread_setname_np(thread_.native_handle(), name.c_str());
  } catch (const std::system_error& error) {
    status = absl::ResourceExhaustedError(
        absl::StrCat("starting the thread ", name, ": ", error.what()));
  }
  return status;
}

void HubThread::Join() {
  if (thread_.joinable()) thread_.join();
}

}  // namespace muster::store
