#ifndef MUSTER_STORE_SERVER_LISTENING_SOCKET_H_
#define MUSTER_STORE_SERVER_LISTENING_SOCKET_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/owned_fd.h"

namespace muster {

// A non-blocking TCP socket that listens with the longest backlog the host
// allows, and whose connections have TCP_NODELAY and keep-alive (a host that
// lost its power says no farewell). `address` empty: every address, of IPv4
// and where the host has it of IPv6; else a numeric one. Port 0: any free one.
//   InvalidArgument    the address or port is none
//   AlreadyExists      the port is taken
//   ResourceExhausted  no descriptor is left
absl::StatusOr<OwnedFd> ListenOn(const std::string& address, int port);

// Makes a socket that listens already as those of ListenOn.
//   InvalidArgument  it is no listening stream socket
absl::Status AdoptListener(const OwnedFd& listener);

// The local port of a socket.
absl::StatusOr<int> LocalPort(const OwnedFd& socket);

}  // namespace muster

#endif  // MUSTER_STORE_SERVER_LISTENING_SOCKET_H_
