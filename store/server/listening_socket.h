#ifndef MUSTER_STORE_SERVER_LISTENING_SOCKET_H_
#define MUSTER_STORE_SERVER_LISTENING_SOCKET_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/owned_fd.h"

namespace muster::store {

// Returns a non-blocking TCP socket that listens with the longest backlog that
// the host allows. Its connections have TCP_NODELAY and keep-alive (a host that
// loses power sends no FIN). `address`: a numeric address; empty: all IPv4 and,
// if the host supports it, IPv6 addresses. Port 0: any free port.
//   InvalidArgument    the address or port is invalid
//   AlreadyExists      the port is in use
//   ResourceExhausted  no descriptor is left
absl::StatusOr<OwnedFd> ListenOn(const std::string& address, int port);

// Returns `given` with the same options set, if it is open; else the result of
// ListenOn.
//   InvalidArgument  `given` is not a listening stream socket
//   and the errors of ListenOn
absl::StatusOr<OwnedFd> ListenerFor(OwnedFd given, const std::string& address,
                                    int port);

// Number of descriptors that a store's server leaves for the rest of its
// process.
inline constexpr int kDescriptorsForOthers = 512;

// The local port of a socket.
absl::StatusOr<int> LocalPort(const OwnedFd& socket);

}  // namespace muster::store

#endif  // MUSTER_STORE_SERVER_LISTENING_SOCKET_H_
