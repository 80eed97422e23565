#include "base/net/connect.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "base/net/resolve.h"
#include "base/poll.h"

namespace muster {
namespace {

void SetOption(int fd, int level, int name, int value) {
  // Ignore a failure: without the option the connection still works, but it may
  // send small data later, or notice the loss of its peer later.
  setsockopt(fd, level, name, &value, sizeof(value));
}

void Tune(int fd) {
  SetOption(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  SetOption(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  // seconds without data before the first keep-alive probe
  SetOption(fd, IPPROTO_TCP, TCP_KEEPIDLE, 15);
  // seconds between two keep-alive probes
  SetOption(fd, IPPROTO_TCP, TCP_KEEPINTVL, 5);
  SetOption(fd, IPPROTO_TCP, TCP_KEEPCNT, 3);
  // limit in milliseconds for sent data that the peer does not acknowledge
  SetOption(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, 30000);
  LimitRetransmissionInterval(fd);
}

// Connects `fd`; returns 0, or the errno of the failure.
int Reach(int fd, const SocketAddress& address, Instant deadline) {
  if (connect(fd, address.get(), address.size) != 0) {
    // Neither error is a failure: after EINTR, the connect continues in the
    // background, as after EINPROGRESS.
    if (errno != EINPROGRESS && errno != EINTR) return errno;
    if (!PollUntil(fd, POLLOUT, deadline)) return ETIMEDOUT;
  }
  return ConnectResult(fd);
}

// The number of the socket option TCP_RTO_MAX_MS, which older versions of
// <linux/tcp.h> do not define.
constexpr int kMaxRetransmissionTimeout = 44;
// The smallest value of TCP_RTO_MAX_MS, in milliseconds.
constexpr int kLeastMilliseconds = 1000;

}  // namespace

int ConnectResult(int fd) {
  int error = 0;
  socklen_t size = sizeof(error);
  if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) return errno;
  if (error != 0) return error;
  const std::optional<SocketAddress> own = BoundAddress(fd);
  SocketAddress peer;
  peer.size = sizeof(peer.storage);
  if (!own.has_value() ||
      getpeername(fd, reinterpret_cast<sockaddr*>(&peer.storage), &peer.size) !=
          0) {
    return 0;  // `fd` was connected, but the peer has disconnected since
  }
  return own->Port() == peer.Port() && own->Ip() == peer.Ip() ? ECONNREFUSED
                                                              : 0;
}

Instant ShareOf(Instant deadline, Instant now, size_t turns) {
  return deadline <= now ? deadline
                         : now + (deadline - now) / static_cast<int64_t>(turns);
}

absl::StatusOr<OwnedFd> Connect(const SocketAddress& address,
                                Instant deadline) {
  OwnedFd fd(
      socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.open()) return absl::UnavailableError(std::strerror(errno));
  Tune(fd.get());
  const int error = Reach(fd.get(), address, deadline);
  if (error != 0) return absl::UnavailableError(std::strerror(error));
  return fd;
}

absl::StatusOr<OwnedFd> ConnectTcp(const std::string& host, int port,
                                   Instant deadline) {
  const absl::StatusOr<std::vector<SocketAddress>> addresses =
      Resolve(host, port, {.timeout = deadline - MonotonicNow()});
  if (!addresses.ok()) {
    return absl::UnavailableError(addresses.status().message());
  }
  absl::Status last;
  for (size_t i = 0; i < addresses->size(); ++i) {
    absl::StatusOr<OwnedFd> fd =
        Connect((*addresses)[i],
                ShareOf(deadline, MonotonicNow(), addresses->size() - i));
    if (fd.ok()) return fd;
    last = fd.status();
  }
  return absl::UnavailableError(absl::StrCat(
      "connecting to ", HostPort(host, port), ": ", last.message()));
}

void LimitRetransmissionInterval(int fd) {
  // Errors are ignored: a kernel before Linux 6.15 does not have the option.
  (void)setsockopt(fd, IPPROTO_TCP, kMaxRetransmissionTimeout,
                   &kLeastMilliseconds, sizeof(kLeastMilliseconds));
}

}  // namespace muster
