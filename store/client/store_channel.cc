#include "store/client/store_channel.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <random>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/monotonic_clock.h"
#include "base/net/connect.h"
#include "base/poll.h"
#include "store/wire/request.h"

namespace muster::store {
namespace {

// Time limit of one attempt to connect. An attempt whose packet was lost must
// not use up the whole deadline. But a store to which ten thousand clients
// connect at once must have the time to answer.
constexpr Duration kAttempt = std::chrono::seconds(20);
constexpr Duration kFirstPause = std::chrono::milliseconds(20);
constexpr Duration kLongestPause = std::chrono::seconds(1);
constexpr int kRefusals = 5;

// Returns a random duration between half of `pause` and `pause`. So the ranks
// of a world do not all retry at the same moment.
Duration Jittered(Duration pause) {
  static thread_local std::minstd_rand generator(std::random_device{}());
  return pause / 2 + (pause / 2) * (generator() % 1024) / 1024;
}

}  // namespace

absl::StatusOr<StoreChannel> DialStore(const std::string& host, int port,
                                       Instant deadline) {
  const Instant started = MonotonicNow();
  Duration pause = kFirstPause;
  int refusals = 0;
  while (true) {
    absl::StatusOr<StoreChannel> opened = StoreChannel::Open(
        host, port, std::min(deadline, MonotonicNow() + kAttempt));
    if (opened.ok()) return opened;
    refusals = absl::IsFailedPrecondition(opened.status()) ? refusals + 1 : 0;
    if (refusals == kRefusals) return opened;

    const Instant now = MonotonicNow();
    if (now >= deadline) {
      return absl::DeadlineExceededError(
          absl::StrFormat("no store at %s after %.1f s; the last attempt: %s",
                          HostPort(host, port), ToSeconds(now - started),
                          std::string(opened.status().message())));
    }
    std::this_thread::sleep_for(std::min(Jittered(pause), deadline - now));
    pause = std::min(pause * 2, kLongestPause);
  }
}

namespace {

constexpr size_t kReceiveBytes = 16 << 10;
constexpr char kClosed[] = "closed the connection";

}  // namespace

absl::Status StoreChannel::Lost(const std::string& how) const {
  return absl::UnavailableError(absl::StrCat(peer_, " ", how));
}

absl::StatusOr<StoreChannel> StoreChannel::Open(const std::string& host,
                                                int port, Instant deadline) {
  absl::StatusOr<OwnedFd> socket = ConnectTcp(host, port, deadline);
  if (!socket.ok()) return socket.status();
  StoreChannel connection(*std::move(socket),
                          absl::StrCat("the store at ", HostPort(host, port)));
  absl::Status greeted = connection.Greet(deadline);
  if (!greeted.ok()) return greeted;
  return connection;
}

absl::Status StoreChannel::Greet(Instant deadline) {
  // The nonce of PING may be any number. The process id identifies this process
  // in packet captures.
  const auto nonce = static_cast<uint32_t>(getpid());
  std::string greeting;
  AppendRequest({.command = StoreCommand::kValidate, .number = kStoreMagic},
                &greeting);
  AppendRequest({.command = StoreCommand::kPing, .number = nonce}, &greeting);
  absl::Status sent = Send(greeting, deadline);
  absl::StatusOr<StoreReply> pong =
      sent.ok() ? Receive(StoreCommand::kPing, 0, deadline)
                : absl::StatusOr<StoreReply>(sent);
  if (absl::IsDeadlineExceeded(pong.status())) {
    return Lost("accepted the connection but does not answer");
  }
  if (pong.ok() && static_cast<uint32_t>(pong->number) == nonce) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrCat(
      peer_,
      pong.ok() ? " answered the greeting with another number"
                : " closed the connection at the greeting",
      ": it is no store of PyTorch 2.1 or newer (older ones speak another "
      "protocol), or it takes no more connections"));
}

absl::Status StoreChannel::Send(const std::string& requests, Instant deadline) {
  size_t sent = 0;
  while (sent < requests.size()) {
    const ssize_t count =
        send(socket_.get(), requests.data() + sent, requests.size() - sent,
             MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count > 0) {
      sent += count;
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!PollUntil(socket_.get(), POLLOUT, deadline)) {
        return absl::DeadlineExceededError(absl::StrCat(
            peer_, " took only ", sent, " of ", requests.size(), " bytes"));
      }
    } else if (errno == EPIPE || errno == ECONNRESET) {
      return Lost(kClosed);
    } else if (errno != EINTR) {
      return Lost(absl::StrCat("cannot be reached: ", std::strerror(errno)));
    }
  }
  return absl::OkStatus();
}

absl::Status StoreChannel::ReceiveSome(Instant deadline) {
  char bytes[kReceiveBytes];
  while (true) {
    const ssize_t count =
        recv(socket_.get(), bytes, sizeof(bytes), MSG_DONTWAIT);
    if (count > 0) {
      received_.append(bytes, count);
      return absl::OkStatus();
    }
    if (count == 0 || errno == ECONNRESET) return Lost(kClosed);
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) {
      return Lost(absl::StrCat("cannot be reached: ", std::strerror(errno)));
    }
    if (!PollUntil(socket_.get(), POLLIN, deadline)) {
      return absl::DeadlineExceededError(
          absl::StrCat(peer_, " has not answered in time"));
    }
  }
}

absl::StatusOr<StoreReply> StoreChannel::Receive(StoreCommand command,
                                                 size_t keys,
                                                 Instant deadline) {
  ReplyParser parser(command, keys);
  StoreReply reply;
  while (true) {
    absl::StatusOr<size_t> bytes = parser.Parse(received_, &reply);
    if (!bytes.ok()) {
      return Lost(absl::StrCat(
          "answered ", CommandName(command),
          " with no reply to it: ", std::string(bytes.status().message())));
    }
    if (*bytes > 0) {
      received_.erase(0, *bytes);
      return reply;
    }
    absl::Status more = ReceiveSome(deadline);
    if (!more.ok()) return more;
  }
}

}  // namespace muster::store
