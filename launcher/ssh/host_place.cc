#include "launcher/ssh/host_place.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"

namespace muster::launcher {
namespace {

// Maximum number of attempts to become the only process that may start an agent
// on this host. Each attempt binds an abstract Unix socket. If another process
// has bound the socket, the attempt connects to that process. It fails if that
// process has just exited or does not listen yet. After kMaxTries failures this
// process starts its agent nevertheless.
constexpr int kMaxTries = 10;

OwnedFd NewSocket() {
  return OwnedFd(
      socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

// Stores the address of the abstract socket `name` in `address` and returns its
// size. The path of an abstract socket is a zero byte followed by the name.
socklen_t AddressOf(const std::string& name, sockaddr_un& address) {
  address.sun_family = AF_UNIX;
  const size_t size =
      name.copy(address.sun_path + 1, sizeof(address.sun_path) - 1);
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + size);
}

bool IsOwnUser(int socket) {
  ucred peer = {};
  socklen_t size = sizeof(peer);
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         peer.uid == geteuid();
}

// Whether the peer, which never writes, still has the connection open.
bool IsConnected(int socket) {
  char byte = 0;
  return recv(socket, &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

}  // namespace

HostPlace::HostPlace(const std::string& run, uint32_t host)
    : name_(absl::StrCat("muster-host-", run, "-", host)) {}

HostPlace::Event HostPlace::Serve() {
  if (!taken_) {
    if (other_.open() && IsConnected(other_.get())) return Event::kNone;
    return Try();
  }
  if (!listener_.open() || other_.open()) return Event::kNone;
  OwnedFd other(
      accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!other.open() || !IsOwnUser(other.get())) return Event::kNone;
  other_ = std::move(other);
  return Event::kClaimed;
}

HostPlace::Event HostPlace::Try() {
  sockaddr_un address = {};
  const socklen_t size = AddressOf(name_, address);
  const auto* const bytes = reinterpret_cast<const sockaddr*>(&address);
  for (int i = 0; i < kMaxTries; ++i) {
    other_ = OwnedFd();
    OwnedFd own = NewSocket();
    if (own.open() && bind(own.get(), bytes, size) == 0 &&
        listen(own.get(), 8) == 0) {
      listener_ = std::move(own);
      break;
    }
    if (!own.open() || errno != EADDRINUSE) break;
    OwnedFd other = NewSocket();
    if (!other.open()) break;
    if (connect(other.get(), bytes, size) == 0) {
      if (!IsOwnUser(other.get())) break;
      other_ = std::move(other);
      return Event::kNone;
    }
    if (errno != ECONNREFUSED) break;
  }
  taken_ = true;
  return Event::kTaken;
}

int HostPlace::fd() const {
  if (!taken_) return other_.get();
  return other_.open() ? -1 : listener_.get();
}

}  // namespace muster::launcher
