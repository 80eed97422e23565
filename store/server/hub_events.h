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

namespace muster {

// What a hub's thread waits for: its sockets' events, and another thread's word
// that it shall stop.
class HubEvents {
 public:
  // Of an event that is Stop's.
  static constexpr uint64_t kStopId = 2;

  // Once, before all others. ResourceExhausted: no descriptors are left.
  absl::Status Open();

  // Events of the socket come with `id`. Whether that could be arranged.
  bool Add(int fd, uint64_t id, uint32_t events);
  void Change(int fd, uint64_t id, uint32_t events);

  // From any thread, once open.
  void Stop();
  bool stopped() const { return stop_.load(std::memory_order_acquire); }

  // Some events; none after `at_most`, where that is given, or Stop.
  std::span<const epoll_event> Wait(
      std::optional<std::chrono::milliseconds> at_most);
  // When the last Wait came to its end.
  Instant now() const { return now_; }

  int epoll() const { return epoll_.get(); }

 private:
  OwnedFd epoll_;
  OwnedFd wake_;
  std::atomic<bool> stop_ = false;
  Instant now_;
  std::array<epoll_event, 256> events_;
};

}  // namespace muster

#endif  // MUSTER_STORE_SERVER_HUB_EVENTS_H_
