#ifndef MUSTER_STORE_SERVER_HUB_EVENTS_H_
#define MUSTER_STORE_SERVER_HUB_EVENTS_H_

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "base/owned_fd.h"
#include "base/time.h"

namespace muster::store {

// The events that the thread of a StoreHub (the network loop of a store server
// or relay) waits for: those of its sockets, and another thread's call of Stop.
class HubEvents {
 public:
  // The id of the event caused by Stop.
  static constexpr uint64_t kStopId = 2;

  // Must be called once, before all other methods. ResourceExhausted: no
  // descriptors are left.
  absl::Status Open();

  // Registers a socket; its events have `id`. Returns false on failure.
  bool Add(int fd, uint64_t id, uint32_t events);
  void Change(int fd, uint64_t id, uint32_t events);

  // Makes the current and all later calls of Wait return. Any thread, after
  // Open.
  void Stop();
  bool stopped() const { return stop_.load(std::memory_order_acquire); }

  // Blocks until there are events and returns them. Returns at once after Stop.
  // The span is empty if there was no event within the time `at_most` (nullopt:
  // no limit).
  std::span<const epoll_event> Wait(
      std::optional<std::chrono::milliseconds> at_most);
  // The time at which the last Wait returned, on the clock of MonotonicNow.
  Instant now() const { return now_; }

  int epoll() const { return epoll_.get(); }

 private:
  OwnedFd epoll_;
  OwnedFd wake_;
  std::atomic<bool> stop_ = false;
  Instant now_;
  std::array<epoll_event, 256> events_;
};

// A thread with all signals blocked, so that signals to the process are handled
// by threads that expect them.
class HubThread {
 public:
  HubThread() = default;
  ~HubThread();
  HubThread(const HubThread&) = delete;
  HubThread& operator=(const HubThread&) = delete;

  // Starts the thread. `name` is shown by ps and debuggers; at most 15 bytes.
  // ResourceExhausted: no thread can be created.
  absl::Status Start(const std::string& name, std::function<void()> body);

  // True between Start and Join.
  bool started() const { return thread_.joinable(); }
  void Join();

 private:
  std::thread thread_;
};

// A timer for a periodic action. The caller passes the time. Pure.
class TickTimer {
 public:
  explicit TickTimer(std::chrono::milliseconds period) : period_(period) {}

  // Time from `now` to the next tick, rounded up to whole milliseconds; 0: a
  // tick is due.
  std::chrono::milliseconds Left(Instant now) const {
    return std::max(std::chrono::milliseconds(0),
                    std::chrono::ceil<std::chrono::milliseconds>(next_ - now));
  }

  // Returns whether a tick is due. If so, the next tick is due `period` after
  // `now`.
  bool Take(Instant now) {
    if (now < next_) return false;
    next_ = now + period_;
    return true;
  }

 private:
  const std::chrono::milliseconds period_;
  Instant next_;
};

// Passes on a limited number of messages for the user. Replaces the last of
// them by a message that says that no more will follow.
class BoundedNotices {
 public:
  // `sink` receives the messages for the user; an empty `sink` drops them.
  explicit BoundedNotices(std::function<void(const std::string&)> sink,
                          size_t most = 200)
      : sink_(std::move(sink)), left_(most) {}

  void Say(const std::string& sentence) {
    if (!sink_ || left_ == 0) return;
    --left_;
    sink_(left_ > 0 ? sentence
                    : "the store has said too much: no more of this");
  }

 private:
  const std::function<void(const std::string&)> sink_;
  size_t left_;
};

}  // namespace muster::store

#endif  // MUSTER_STORE_SERVER_HUB_EVENTS_H_
