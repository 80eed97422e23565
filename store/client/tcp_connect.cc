#include "store/client/tcp_connect.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "store/client/poll_until.h"

namespace muster::store {
namespace {

void SetOption(int fd, int level, int name, int value) {
  // Errors are ignored: without the option a lost peer is noticed later.
  setsockopt(fd, level, name, &value, sizeof(value));
}

void Tune(int fd) {
  SetOption(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  SetOption(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  SetOption(fd, IPPROTO_TCP, TCP_KEEPIDLE, 15);  // seconds
  SetOption(fd, IPPROTO_TCP, TCP_KEEPINTVL, 5);  // seconds
  SetOption(fd, IPPROTO_TCP, TCP_KEEPCNT, 3);
  SetOption(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, 30000);  // milliseconds
}

// Connects `fd`; returns 0 or the errno.
int ConnectTo(int fd, const addrinfo& address, Instant deadline) {
  if (connect(fd, address.ai_addr, address.ai_addrlen) == 0) return 0;
  // An interrupted connect continues in the background, as with EINPROGRESS.
  if (errno != EINPROGRESS && errno != EINTR) return errno;
  if (!PollUntil(fd, POLLOUT, deadline)) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof(error);
  if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) return errno;
  return error;
}

}  // namespace

Instant ShareOf(Instant deadline, Instant now, int turns) {
  return deadline <= now ? deadline : now + (deadline - now) / turns;
}

std::string HostPort(const std::string& host, int port) {
  return host.find(':') == std::string::npos
             ? absl::StrCat(host, ":", port)
             : absl::StrCat("[", host, "]:", port);
}

absl::StatusOr<OwnedFd> ConnectTcp(const std::string& host, int port,
                                   Instant deadline) {
  addrinfo wanted = {};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int unknown =
      getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found);
  if (unknown != 0) {
    return absl::UnavailableError(
        absl::StrCat("host '", host, "': ", gai_strerror(unknown)));
  }
  std::unique_ptr<addrinfo, void (*)(addrinfo*)> addresses(found,
                                                           &freeaddrinfo);
  int left = 0;
  for (const addrinfo* address = found; address != nullptr;
       address = address->ai_next) {
    ++left;
  }
  int error = 0;
  for (const addrinfo* address = found; address != nullptr;
       address = address->ai_next) {
    const int turns = left--;
    OwnedFd fd(socket(address->ai_family,
                      SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd.open()) {
      error = errno;
      continue;
    }
    Tune(fd.get());
    error =
        ConnectTo(fd.get(), *address, ShareOf(deadline, MonotonicNow(), turns));
    if (error == 0) return fd;
  }
  return absl::UnavailableError(absl::StrCat(
      "connecting to ", HostPort(host, port), ": ", std::strerror(error)));
}

}  // namespace muster::store
