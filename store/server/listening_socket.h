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

// `given`, made as those of ListenOn, where it is open; else ListenOn's.
//   InvalidArgument  what is given is no listening stream socket
//   and as ListenOn
absl::StatusOr<OwnedFd> ListenerFor(OwnedFd given, const std::string& address,
                                    int port);

// Descriptors that a server of the store leaves for everything in its process
// that is no connection of its own.
inline constexpr int kDescriptorsForOthers = 512;

// The local port of a socket.
absl::StatusOr<int> LocalPort(const OwnedFd& socket);

}  // namespace muster

#endif  // MUSTER_STORE_SERVER_LISTENING_SOCKET_H_
