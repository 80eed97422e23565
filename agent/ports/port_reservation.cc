#include "agent/ports/port_reservation.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "base/net/socket_address.h"

namespace muster::agent {
namespace {

// Binds a new socket to a free port on all addresses of `family`. A socket of
// family AF_INET6 is bound to the port for IPv4 as well, so the port is
// reserved in both families.
absl::StatusOr<OwnedFd> BindAnyPort(int family,
                                    PortReservation::Sharing sharing) {
  OwnedFd fd(socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int reuse = sharing == PortReservation::Sharing::kWithServers ? 1 : 0;
  const int off = 0;
  const bool six = family == AF_INET6;
  const SocketAddress any = *NumericAddress(six ? "::" : "0.0.0.0", 0);
  if (!fd.open() ||
      setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse) !=
          0 ||
      (six && setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off,
                         sizeof off) != 0) ||
      bind(fd.get(), any.get(), any.size) != 0) {
    return absl::ResourceExhaustedError(
        std::string("no free TCP port can be held: ") + std::strerror(errno));
  }
  return fd;
}

}  // namespace

void PortReservation::KeepForProgram() {
  fcntl(socket_.get(), F_SETFD, 0);
  socket_.Release();
}

void PortReservation::Share() {
  const int on = 1;
  setsockopt(socket_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
}

absl::StatusOr<PortReservation> PortReservation::Take(Sharing sharing) {
  absl::StatusOr<OwnedFd> fd = BindAnyPort(AF_INET6, sharing);
  // Falls back to IPv4, because IPv6 may be disabled on this host.
  if (!fd.ok()) fd = BindAnyPort(AF_INET, sharing);
  if (!fd.ok()) return fd.status();
  const std::optional<SocketAddress> bound = BoundAddress(fd->get());
  if (!bound.has_value()) {
    return absl::ResourceExhaustedError(
        std::string("a TCP port's number is not told: ") +
        std::strerror(errno));
  }
  return PortReservation(*std::move(fd), bound->Port());
}

}  // namespace muster::agent
