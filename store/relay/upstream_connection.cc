#include "store/relay/upstream_connection.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/little_endian.h"
#include "base/monotonic_clock.h"
#include "store/wire/command.h"
#include "store/wire/relay_frames.h"
#include "store/wire/request.h"

namespace muster::store {
namespace {

// Pause between two rounds of attempts.
constexpr Duration kRetryPause = std::chrono::milliseconds(50);

// Blocks until the socket has one of `events`; returns false if the deadline
// passes first.
bool Await(int fd, short events, Instant deadline) {
  while (true) {
    const Duration left = deadline - MonotonicNow();
    if (left <= Duration::zero()) return false;
    const auto milliseconds =
        std::chrono::ceil<std::chrono::milliseconds>(left).count();
    pollfd entry{.fd = fd, .events = events, .revents = 0};
    const int ready =
        poll(&entry, fd >= 0 ? 1 : 0,
             static_cast<int>(std::min<int64_t>(milliseconds, 1 << 30)));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

absl::StatusOr<OwnedFd> ConnectTo(const HostAddress& address,
                                  Instant deadline) {
  OwnedFd fd(
      socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.open()) {
    return absl::UnavailableError(
        absl::StrCat("no socket: ", std::strerror(errno)));
  }
  const int on = 1;
  setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  setsockopt(fd.get(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
  if (connect(fd.get(), address.get(), address.size) != 0) {
    if (errno != EINPROGRESS) {
      return absl::UnavailableError(std::strerror(errno));
    }
    if (!Await(fd.get(), POLLOUT, deadline)) {
      return absl::UnavailableError("no answer to the connection");
    }
    int error = 0;
    socklen_t size = sizeof(error);
    getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return absl::UnavailableError(std::strerror(error));
  }
  return fd;
}

// Sends VALIDATE and RELAY and checks the answer.
absl::Status Agree(const OwnedFd& fd, Instant deadline) {
  std::string greeting;
  AppendRequest({.command = StoreCommand::kValidate, .number = kStoreMagic},
                &greeting);
  AppendRequest({.command = StoreCommand::kRelay, .number = kRelayVersion},
                &greeting);
  // A new connection accepts this few bytes without blocking.
  if (send(fd.get(), greeting.data(), greeting.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(greeting.size())) {
    return absl::UnavailableError("it ended the connection");
  }
  std::string answer(sizeof(uint32_t), '\0');
  size_t got = 0;
  while (got < answer.size()) {
    if (!Await(fd.get(), POLLIN, deadline)) {
      return absl::DeadlineExceededError("it does not answer");
    }
    const ssize_t count =
        recv(fd.get(), answer.data() + got, answer.size() - got, 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (count <= 0) {
      return absl::FailedPreconditionError(
          "it ended the connection: it takes no relay");
    }
    got += static_cast<size_t>(count);
  }
  if (ReadInteger<uint32_t>(answer) != kRelayVersion) {
    return absl::FailedPreconditionError("it is a relay's of another version");
  }
  return absl::OkStatus();
}

}  // namespace

Instant ShareOf(Instant deadline, Instant now, size_t turns) {
  return deadline <= now ? deadline
                         : now + (deadline - now) / static_cast<int64_t>(turns);
}

absl::StatusOr<OwnedFd> ConnectUpstream(
    const std::vector<HostAddress>& addresses, Instant deadline) {
  absl::Status last = absl::UnavailableError("the deadline is over");
  while (true) {
    for (size_t i = 0; i < addresses.size(); ++i) {
      const Instant share =
          ShareOf(deadline, MonotonicNow(), addresses.size() - i);
      absl::StatusOr<OwnedFd> fd = ConnectTo(addresses[i], share);
      if (!fd.ok()) {
        last = fd.status();
        continue;
      }
      last = Agree(*fd, share);
      if (last.ok()) return fd;
      if (absl::IsFailedPrecondition(last)) return last;
    }
    if (MonotonicNow() + kRetryPause >= deadline) return last;
    Await(-1, 0, MonotonicNow() + kRetryPause);
  }
}

}  // namespace muster::store
