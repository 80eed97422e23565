#ifndef MUSTER_STORE_SERVER_LISTENING_SOCKET_H_
#define MUSTER_STORE_SERVER_LISTENING_SOCKET_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/net/socket_address.h"
#include "base/owned_fd.h"

namespace muster::store {

// Returns a non-blocking TCP socket that listens with the longest backlog that
// the host allows. Its connections have TCP_NODELAY, and TCP keep-alive to
// detect hosts that have lost power. `address`: a numeric address; empty: all
// IPv4 and, if the host supports it, IPv6 addresses. Port 0: any free port.
//   InvalidArgument    the address or port is invalid
//   AlreadyExists      the port is in use
//   ResourceExhausted  no descriptor is left
absl::StatusOr<OwnedFd> ListenOn(const std::string& address, int port);

// If `given` is open, sets the same socket options on it as ListenOn, and
// returns `given`. Otherwise returns the result of ListenOn.
//   InvalidArgument  `given` is not a listening stream socket
//   and the errors of ListenOn
absl::StatusOr<OwnedFd> ListenerFor(OwnedFd given, const std::string& address,
                                    int port);

// Number of file descriptors that a store's server leaves free for the rest of
// its process.
inline constexpr int kDescriptorsForOthers = 512;

// Returns the port to which the socket is bound.
absl::StatusOr<int> LocalPort(const OwnedFd& socket);

// Accepts connections from a listening socket, up to a maximum number of
// connections. When the maximum is reached or no file descriptor is free,
// accepting pauses: new connections wait in the kernel's backlog. During a
// pause the socket's epoll events are disabled, because epoll would report the
// socket as readable all the time.
class StoreAcceptor {
 public:
  StoreAcceptor(OwnedFd listener, size_t max_connections)
      : listener_(std::move(listener)), max_connections_(max_connections) {}

  // Registers the listener in `epoll` with `id`. Returns false on failure.
  bool Watch(int epoll, uint64_t id);

  struct Accepted {
    OwnedFd socket;
    SocketAddress peer;
  };
  // Returns a new non-blocking connection. `connections`: the number of
  // existing connections. The returned socket is not open if no connection is
  // pending or accepting is paused. If this call begins the pause, sets
  // `why_paused` to the reason.
  Accepted Accept(size_t connections, std::string* why_paused);

  bool paused() const { return paused_; }
  // Accepts connections again after a pause, unless the number of existing
  // `connections` has reached the maximum. No effect outside of a pause.
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

// Counts the connections that a store refuses because of the peer's address.
// Limits the number of messages about them. Pure.
class StrangerLog {
 public:
  // The maximum number of refused addresses that are named in messages.
  static constexpr size_t kMaxNamed = 8;

  // Counts a refused connection from `address`. Returns a message for the user
  // for the first connection from each of the first kMaxNamed addresses, and
  // one more message for all further addresses. Otherwise returns an empty
  // string.
  std::string Refused(const std::string& address);

  uint64_t connections() const { return connections_; }
  // Returns a message with the number of refused connections. If Refused has
  // already reported each of them, returns an empty string.
  std::string Summary() const;

 private:
  std::set<std::string> named_;
  uint64_t connections_ = 0;
  uint64_t sentences_ = 0;
  bool has_more_ = false;
};

}  // namespace muster::store

#endif  // MUSTER_STORE_SERVER_LISTENING_SOCKET_H_
