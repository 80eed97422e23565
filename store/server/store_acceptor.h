#ifndef MUSTER_STORE_SERVER_STORE_ACCEPTOR_H_
#define MUSTER_STORE_SERVER_STORE_ACCEPTOR_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "base/owned_fd.h"

namespace muster::store {

// Accepts connections from a listening socket while there is room. Without free
// descriptors, epoll would report the listener as readable all the time, so its
// events are disabled until there may be room again. Meanwhile new connections
// wait in the kernel's backlog.
class StoreAcceptor {
 public:
  StoreAcceptor(OwnedFd listener, size_t max_connections)
      : listener_(std::move(listener)), max_connections_(max_connections) {}

  // Registers the listener in `epoll` with `id`. Returns false on failure.
  bool Watch(int epoll, uint64_t id);

  // Returns a new non-blocking connection. The result is not open if none is
  // pending, or if there is no room in addition to `connections`: then
  // `why_paused` has the reason.
  OwnedFd Accept(size_t connections, std::string* why_paused);

  bool paused() const { return paused_; }
  // Accepts again if `connections` leave room.
  void Resume(size_t connections);

  void Close() { listener_.Close(); }

 private:
  void Pause();
  void SetEvents(uint32_t events);

  OwnedFd listener_;
  const size_t max_connections_;
  int epoll_ = -1;
  uint64_t id_ = 0;
  bool paused_ = false;
};

}  // namespace muster::store

#endif  // MUSTER_STORE_SERVER_STORE_ACCEPTOR_H_
