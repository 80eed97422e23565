#include "store/relay/upstream_connection.h"

#include <sys/socket.h>

#include <cerrno>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/little_endian.h"
#include "base/monotonic_clock.h"
#include "base/net/connect.h"
#include "base/poll.h"
#include "store/wire/command.h"
#include "store/wire/relay_frames.h"
#include "store/wire/request.h"

namespace muster::store {
namespace {

// Pause between two rounds of attempts.
constexpr Duration kRetryPause = std::chrono::milliseconds(50);

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
    if (!PollUntil(fd.get(), POLLIN, deadline)) {
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

absl::StatusOr<OwnedFd> ConnectUpstream(
    const std::vector<SocketAddress>& addresses, Instant deadline) {
  absl::Status last = absl::UnavailableError("the deadline is over");
  while (true) {
    for (size_t i = 0; i < addresses.size(); ++i) {
      const Instant share =
          ShareOf(deadline, MonotonicNow(), addresses.size() - i);
      absl::StatusOr<OwnedFd> fd = Connect(addresses[i], share);
      if (!fd.ok()) {
        last = fd.status();
        continue;
      }
      last = Agree(*fd, share);
      if (last.ok()) return fd;
      if (absl::IsFailedPrecondition(last)) return last;
    }
    if (MonotonicNow() + kRetryPause >= deadline) return last;
    PauseUntil(MonotonicNow() + kRetryPause);
  }
}

}  // namespace muster::store
