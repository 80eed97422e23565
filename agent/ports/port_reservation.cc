#include "agent/ports/port_reservation.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "absl/status/status.h"

namespace muster::agent {
namespace {

// Binds a new socket to a free port on all addresses of `family`. An IPv6
// socket also covers IPv4, so that servers of both families find the port free.
absl::StatusOr<OwnedFd> BindAnyPort(int family) {
  OwnedFd fd(socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  const int off = 0;
  sockaddr_storage any = {};
  any.ss_family = static_cast<sa_family_t>(family);
  const bool six = family == AF_INET6;
  const socklen_t size = six ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  if (!fd.open() ||
      setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      (six && setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off,
                         sizeof off) != 0) ||
      bind(fd.get(), reinterpret_cast<const sockaddr*>(&any), size) != 0) {
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

absl::StatusOr<PortReservation> PortReservation::Take() {
  absl::StatusOr<OwnedFd> fd = BindAnyPort(AF_INET6);
  // IPv6 may be disabled on this host.
  if (!fd.ok()) fd = BindAnyPort(AF_INET);
  if (!fd.ok()) return fd.status();
  sockaddr_storage bound = {};
  socklen_t size = sizeof bound;
  if (getsockname(fd->get(), reinterpret_cast<sockaddr*>(&bound), &size) != 0) {
    return absl::ResourceExhaustedError(
        std::string("a TCP port's number is not told: ") +
        std::strerror(errno));
  }
  const in_port_t port =
      bound.ss_family == AF_INET6
          ? reinterpret_cast<const sockaddr_in6*>(&bound)->sin6_port
          : reinterpret_cast<const sockaddr_in*>(&bound)->sin_port;
  return PortReservation(*std::move(fd), ntohs(port));
}

}  // namespace muster::agent
