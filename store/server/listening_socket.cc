#include "store/server/listening_socket.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/net/socket_address.h"

namespace muster::store {
namespace {

// The length of the backlog. The kernel reduces it to net.core.somaxconn.
constexpr int kBacklog = 1 << 20;
// Settings of TCP keep-alive with which a host that does not answer is detected
// after about two minutes.
constexpr int kKeepAliveIdleSeconds = 60;
constexpr int kKeepAliveIntervalSeconds = 20;
constexpr int kKeepAliveProbes = 3;

absl::Status ErrnoStatus(const std::string& what) {
  const std::string message = absl::StrCat(what, ": ", std::strerror(errno));
  if (errno == EADDRINUSE) return absl::AlreadyExistsError(message);
  if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
      errno == ENOMEM) {
    return absl::ResourceExhaustedError(message);
  }
  return absl::InvalidArgumentError(message);
}

absl::Status Set(int fd, int level, int option, int value) {
  if (setsockopt(fd, level, option, &value, sizeof(value)) == 0) {
    return absl::OkStatus();
  }
  return ErrnoStatus("the store's socket option");
}

// Sets socket options on the listening socket. On Linux, accepted connections
// inherit them, which saves system calls for each connection.
absl::Status SetInherited(int fd) {
  absl::Status set = Set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set.Update(Set(fd, SOL_SOCKET, SO_KEEPALIVE, 1));
  set.Update(Set(fd, IPPROTO_TCP, TCP_KEEPIDLE, kKeepAliveIdleSeconds));
  set.Update(Set(fd, IPPROTO_TCP, TCP_KEEPINTVL, kKeepAliveIntervalSeconds));
  set.Update(Set(fd, IPPROTO_TCP, TCP_KEEPCNT, kKeepAliveProbes));
  return set;
}

absl::StatusOr<OwnedFd> Listen(const SocketAddress& address,
                               const std::string& where) {
  OwnedFd fd(
      socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.open()) {
    return ErrnoStatus(absl::StrCat("opening the store's socket at ", where));
  }
  absl::Status set = Set(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (address.family() == AF_INET6) {
    const bool any = address.Ip() == "::";
    set.Update(Set(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, any ? 0 : 1));
  }
  set.Update(SetInherited(fd.get()));
  if (!set.ok()) return set;
  if (bind(fd.get(), address.get(), address.size) != 0 ||
      listen(fd.get(), kBacklog) != 0) {
    return ErrnoStatus(absl::StrCat("listening for the store at ", where));
  }
  return fd;
}

// Sets the same socket options as ListenOn on `listener`, a socket that the
// caller has provided and that already listens.
absl::Status Adopt(const OwnedFd& listener) {
  int listens = 0;
  socklen_t size = sizeof(listens);
  if (getsockopt(listener.get(), SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) !=
          0 ||
      listens == 0) {
    return absl::InvalidArgumentError(
        "the store was given a descriptor that does not listen");
  }
  const int flags = fcntl(listener.get(), F_GETFL);
  if (fcntl(listener.get(), F_SETFL, flags | O_NONBLOCK) != 0 ||
      fcntl(listener.get(), F_SETFD, FD_CLOEXEC) != 0) {
    return ErrnoStatus("the store's listening socket");
  }
  return SetInherited(listener.get());
}

}  // namespace

absl::StatusOr<OwnedFd> ListenOn(const std::string& address, int port) {
  if (port < 0 || port > 65535) {
    return absl::InvalidArgumentError(
        absl::StrCat("the store's port ", port, " is none"));
  }
  const std::string where =
      absl::StrCat(address.empty() ? "every address" : address, " port ", port);
  if (address.empty()) {
    absl::StatusOr<OwnedFd> both = Listen(*NumericAddress("::", port), where);
    if (both.ok() || both.status().code() != absl::StatusCode::kInvalidArgument)
      return both;
    // The host has no IPv6, so the socket listens on all IPv4 addresses.
    return Listen(*NumericAddress("0.0.0.0", port), where);
  }
  const std::optional<SocketAddress> numeric = NumericAddress(address, port);
  if (numeric.has_value()) return Listen(*numeric, where);
  return absl::InvalidArgumentError(
      absl::StrCat("the store's address ", address, " is not numeric"));
}

absl::StatusOr<OwnedFd> ListenerFor(OwnedFd given, const std::string& address,
                                    int port) {
  if (!given.open()) return ListenOn(address, port);
  const absl::Status adopted = Adopt(given);
  if (!adopted.ok()) return adopted;
  return given;
}

absl::StatusOr<int> LocalPort(const OwnedFd& socket) {
  const std::optional<SocketAddress> address = BoundAddress(socket.get());
  if (!address.has_value()) return ErrnoStatus("the store's own address");
  return address->Port();
}

bool StoreAcceptor::Watch(int epoll, uint64_t id) {
  epoll_ = epoll;
  id_ = id;
  epoll_event event{.events = EPOLLIN, .data = {.u64 = id}};
  return epoll_ctl(epoll, EPOLL_CTL_ADD, listener_.get(), &event) == 0;
}

StoreAcceptor::Accepted StoreAcceptor::Accept(size_t connections,
                                              std::string* why_paused) {
  Accepted accepted;
  if (paused_) return accepted;
  if (connections >= max_connections_) {
    Pause();
    *why_paused = absl::StrCat("the store serves ", connections,
                               " connections, all that the limit of "
                               "descriptors (ulimit -n) allows");
    return accepted;
  }
  while (true) {
    SocketAddress& peer = accepted.peer;
    peer.size = sizeof(peer.storage);
    accepted.socket = OwnedFd(
        accept4(listener_.get(), reinterpret_cast<sockaddr*>(&peer.storage),
                &peer.size, SOCK_NONBLOCK | SOCK_CLOEXEC));
    const bool failed = !accepted.socket.open();
    // The error concerns only the connection that was to be accepted. So try to
    // accept the next connection.
    if (failed && (errno == EINTR || errno == ECONNABORTED)) continue;
    if (failed && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
                   errno == ENOMEM)) {
      Pause();
      *why_paused =
          absl::StrCat("the store cannot accept: ", std::strerror(errno));
    }
    return accepted;
  }
}

void StoreAcceptor::Pause() {
  paused_ = true;
  SetEvents(0);
}

void StoreAcceptor::Resume(size_t connections) {
  if (!paused_ || connections >= max_connections_) return;
  paused_ = false;
  SetEvents(EPOLLIN);
}

void StoreAcceptor::SetEvents(uint32_t events) {
  epoll_event event{.events = events, .data = {.u64 = id_}};
  // The caller still needs errno for its error message, and epoll_ctl may
  // change it.
  const int error = errno;
  epoll_ctl(epoll_, EPOLL_CTL_MOD, listener_.get(), &event);
  errno = error;
}

std::string StrangerLog::Refused(const std::string& address) {
  ++connections_;
  if (named_.contains(address)) return "";
  if (named_.size() < kMaxNamed) {
    named_.insert(address);
    ++sentences_;
    return absl::StrCat(
        "the store refused a connection from ", address,
        ": no node of this round has this address; if workers connect from "
        "there, as behind NAT, add it with --store-clients=",
        address);
  }
  if (has_more_) return "";
  has_more_ = true;
  ++sentences_;
  return absl::StrCat("the store refused connections from more than ",
                      kMaxNamed,
                      " addresses outside of the job; the others are counted, "
                      "not named");
}

std::string StrangerLog::Summary() const {
  if (connections_ == sentences_) return "";
  return absl::StrCat("the store refused ", connections_,
                      " connections from addresses outside of the job");
}

}  // namespace muster::store
