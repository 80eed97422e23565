#ifndef MUSTER_STORE_SERVER_HUB_EVENTS_H_
#define MUSTER_STORE_SERVER_HUB_EVENTS_H_

#include <sys/epoll.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>

#include "absl/status/status.h"
#include "base/owned_fd.h"
#include "base/time.h"

namespace muster::store {

// The events that a hub's thread waits for: those of its sockets, and another
// thread's call of Stop.
class HubEvents {
 public:
  // The id of the event caused by Stop.
  static constexpr uint64_t kStopId = 2;

  // Must be called once, before all others. ResourceExhausted: no descriptors
  // are left.
  absl::Status Open();

  // Registers a socket; its events have `id`. Returns false on failure.
  bool Add(int fd, uint64_t id, uint32_t events);
  void Change(int fd, uint64_t id, uint32_t events);

  // May be called from any thread after Open.
  void Stop();
  bool stopped() const { return stop_.load(std::memory_order_acquire); }

  // Blocks until there are events and returns them; returns none after
  // `at_most` (if given) or Stop.
  std::span<const epoll_event> Wait(
      std::optional<std::chrono::milliseconds> at_most);
  // The time at which the last Wait returned.
  Instant now() const { return now_; }

  int epoll() const { return epoll_.get(); }

 private:
  OwnedFd epoll_;
  OwnedFd wake_;
  std::atomic<bool> stop_ = false;
  Instant now_;
  std::array<epoll_event, 256> events_;
};

}  // namespace muster::store

#endif  // MUSTER_STORE_SERVER_HUB_EVENTS_H_
