#ifndef MUSTER_AGENT_PORTS_PORT_RESERVATION_H_
#define MUSTER_AGENT_PORTS_PORT_RESERVATION_H_

#include "absl/status/statusor.h"

namespace muster {

// A TCP port that nobody else on this host is given while this lives, although
// a server may listen on it: the port is bound with SO_REUSEADDR and not
// listened on, so the kernel does not hand it out for port 0, while a server
// that sets SO_REUSEADDR itself (PyTorch's TCPStore, gRPC, asyncio) can bind
// it. That closes the gap between finding a free port and using it.
class PortReservation {
 public:
  // ResourceExhausted: no port or no descriptor is left.
  static absl::StatusOr<PortReservation> Take();

  PortReservation(PortReservation&& other) noexcept;
  PortReservation& operator=(PortReservation&& other) noexcept;
  ~PortReservation();

  int port() const { return port_; }

 private:
  PortReservation(int fd, int port) : fd_(fd), port_(port) {}

  int fd_;
  int port_;
};

}  // namespace muster

#endif  // MUSTER_AGENT_PORTS_PORT_RESERVATION_H_
