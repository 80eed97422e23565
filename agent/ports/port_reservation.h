#ifndef MUSTER_AGENT_PORTS_PORT_RESERVATION_H_
#define MUSTER_AGENT_PORTS_PORT_RESERVATION_H_

#include "absl/status/statusor.h"
#include "base/owned_fd.h"

namespace muster::agent {

// A TCP port that nobody else on this host is given while this lives, although
// a server may listen on it: the port is bound with SO_REUSEADDR and not
// listened on, so the kernel does not hand it out for port 0, while a server
// that sets SO_REUSEADDR itself (PyTorch's TCPStore, gRPC, asyncio) can bind
// it. That closes the gap between finding a free port and using it. Movable.
class PortReservation {
 public:
  // A port free for IPv4 and, where the host has it, IPv6, on every address.
  // ResourceExhausted: no port or no descriptor is left.
  static absl::StatusOr<PortReservation> Take();

  int port() const { return port_; }

  // The port stays held by this process for good, and by the program that it
  // becomes (exec).
  void KeepForProgram();

 private:
  PortReservation(OwnedFd socket, int port)
      : socket_(std::move(socket)), port_(port) {}

  OwnedFd socket_;
  int port_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_PORTS_PORT_RESERVATION_H_
