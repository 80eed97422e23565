#include "store/relay/upstream_connection.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "store/wire/command.h"
#include "store/wire/little_endian.h"
#include "store/wire/relay_frames.h"
#include "store/wire/request.h"

namespace muster {
namespace {

// Between two rounds of tries.
constexpr Duration kRetryPause = std::chrono::milliseconds(50);

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

// Waits until the socket is ready for `events`; false when the deadline comes
// first.
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

absl::StatusOr<OwnedFd> ConnectTo(const addrinfo& address, Instant deadline) {
  OwnedFd fd(
      socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.open()) {
    return absl::UnavailableError(
        absl::StrCat("no socket: ", std::strerror(errno)));
  }
  const int on = 1;
  setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  setsockopt(fd.get(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
  if (connect(fd.get(), address.ai_addr, address.ai_addrlen) != 0) {
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

// VALIDATE and RELAY, and the answer to them.
absl::Status Agree(const OwnedFd& fd, Instant deadline) {
  std::string greeting;
  AppendRequest({.command = StoreCommand::kValidate, .number = kStoreMagic},
                &greeting);
  AppendRequest({.command = StoreCommand::kRelay, .number = kRelayVersion},
                &greeting);
  // A fresh connection takes so few bytes at once.
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

absl::Status Named(const std::string& host, int port,
                   const absl::Status& status) {
  return absl::Status(
      status.code(), absl::StrCat("the round's store at ", host, " port ", port,
                                  ": ", status.message()));
}

}  // namespace

absl::StatusOr<OwnedFd> ConnectUpstream(const std::string& host, int port,
                                        Instant deadline) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error =
      getaddrinfo(host.c_str(), absl::StrCat(port).c_str(), &hints, &found);
  const Addresses addresses(found, &freeaddrinfo);
  if (error != 0) {
    return Named(host, port, absl::InvalidArgumentError(gai_strerror(error)));
  }
  absl::Status last = absl::UnavailableError("the deadline is over");
  while (true) {
    for (const addrinfo* each = addresses.get(); each != nullptr;
         each = each->ai_next) {
      absl::StatusOr<OwnedFd> fd = ConnectTo(*each, deadline);
      if (!fd.ok()) {
        last = fd.status();
        continue;
      }
      const absl::Status agreed = Agree(*fd, deadline);
      if (agreed.ok()) return fd;
      if (!absl::IsUnavailable(agreed)) return Named(host, port, agreed);
      last = agreed;
    }
    if (MonotonicNow() + kRetryPause >= deadline) {
      return Named(host, port, last);
    }
    Await(-1, 0, MonotonicNow() + kRetryPause);
  }
}

}  // namespace muster
