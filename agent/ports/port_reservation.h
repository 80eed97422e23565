#ifndef MUSTER_AGENT_PORTS_PORT_RESERVATION_H_
#define MUSTER_AGENT_PORTS_PORT_RESERVATION_H_

#include "absl/status/statusor.h"
#include "base/owned_fd.h"

namespace muster::agent {

// Reserves a TCP port: binds a socket to the port, without listening, so that
// the kernel assigns the port to no other process while this object exists.
// Movable.
class PortReservation {
 public:
  enum class Sharing {
    kNone,  // no other socket can bind the port until Share is called
    // A server that sets SO_REUSEADDR (PyTorch's TCPStore, gRPC, asyncio) can
    // bind the port. Used if the server is in another process.
    kWithServers,
  };

  // Reserves a port that is free for IPv4 and, if the host has it, IPv6, on all
  // addresses. ResourceExhausted: no free port or descriptor.
  static absl::StatusOr<PortReservation> Take(Sharing sharing);

  // Lets a server that sets SO_REUSEADDR bind the port from now on, as with
  // Sharing::kWithServers.
  void Share();

  int port() const { return port_; }

  // Keeps the port reserved until the end of this process, also across exec.
  void KeepForProgram();

 private:
  PortReservation(OwnedFd socket, int port)
      : socket_(std::move(socket)), port_(port) {}

  OwnedFd socket_;
  int port_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_PORTS_PORT_RESERVATION_H_
