#ifndef MUSTER_STORE_SERVER_STORE_ACCEPTOR_H_
#define MUSTER_STORE_SERVER_STORE_ACCEPTOR_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "base/owned_fd.h"

namespace muster {

// Takes new connections from a listening socket, as long as there is room. A
// listener that is out of descriptors stays readable for epoll, so its events
// are switched off until there may be room again; who comes meanwhile waits in
// the kernel's backlog.
class StoreAcceptor {
 public:
  StoreAcceptor(OwnedFd listener, size_t max_connections)
      : listener_(std::move(listener)), max_connections_(max_connections) {}

  // Readable events of the listener come to `epoll` with `id`. Whether that
  // could be arranged.
  bool Watch(int epoll, uint64_t id);

  // A new connection, non-blocking; not open where nobody has come, or where
  // there is no room beside `connections`: then `why_paused` says so.
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

}  // namespace muster

#endif  // MUSTER_STORE_SERVER_STORE_ACCEPTOR_H_
