#include "agent/pair_check/measure_connection.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/channel_key.h"
#include "base/median.h"
#include "base/monotonic_clock.h"
#include "base/net/connect.h"
#include "base/net/socket_address.h"
#include "base/net/tls_stream.h"
#include "base/owned_fd.h"
#include "base/poll.h"
#include "base/secrets.h"

namespace muster::agent {
namespace {

using rendezvous::PairCheck;

// The hello, the first message of each end: kMagic, the number of the
// measurement and one half of the key. The client sends the first half of the
// key and the server the second half. So another program that accepts the
// client's connection learns only the first half, and cannot answer as the
// server.
constexpr char kMagic[] = "MUSTERPC";
constexpr size_t kMagicBytes = sizeof(kMagic) - 1;
constexpr size_t kProofBytes = kChannelKeyBytes / 2;
constexpr size_t kHelloBytes = kMagicBytes + sizeof(uint64_t) + kProofBytes;

// The purpose for which the TLS key of the measured connection is derived
// (TlsContext::Make).
constexpr char kPurpose[] = "muster pair check";

// Maximum number of accepted connections that have not yet sent a whole hello.
// A further connection replaces the oldest one.
constexpr size_t kMaxCandidates = 16;
// Pause after a failed attempt to connect: the partner may not listen yet.
constexpr Duration kRetryInterval = std::chrono::milliseconds(20);

constexpr size_t kPingBytes = 64;
constexpr int kMinPings = 3;
constexpr int kMaxPings = 20;
// The measurement of round trips ends after this time, if at least kMinPings
// round trips have been measured.
constexpr Duration kPingTime = std::chrono::milliseconds(500);

// The data of the rate measurement is a sequence of chunks of kChunkBytes, each
// beginning with kMore. A single byte kEnd follows the last chunk.
constexpr size_t kChunkBytes = 64 << 10;
constexpr char kMore = 0;
constexpr char kEnd = 1;
// The limit of unsent bytes that the kernel holds for the connection
// (TCP_NOTSENT_LOWAT). With more unsent bytes, a slow connection would need
// seconds to send them after the measurement, before the end mark kEnd.
constexpr int kMaxUnsentBytes = 128 << 10;

enum class Speaker { kClient, kServer };

std::string HelloOf(const PairCheck& check, Speaker speaker) {
  std::string hello(kMagic, kMagicBytes);
  hello.append(reinterpret_cast<const char*>(&check.number),
               sizeof(check.number));
  const size_t half = speaker == Speaker::kClient ? 0 : kProofBytes;
  hello.append(check.key, half, kProofBytes);
  return hello;
}

absl::Status Broken(int error) {
  return absl::UnavailableError(
      absl::StrCat("the connection broke: ", std::strerror(error)));
}

// The limits of a measurement's waits: every wait ends at `deadline`, or as
// soon as `cancel_fd` is readable.
struct Limit {
  Instant deadline;
  int cancel_fd = -1;

  // Returns this limit with a nearer deadline: at most `duration` from now.
  Limit Within(Duration duration) const {
    return {.deadline = std::min(deadline, MonotonicNow() + duration),
            .cancel_fd = cancel_fd};
  }

  // Waits until `fd` is ready for `events`, or until `until`; returns OK in
  // both cases. Cancelled: `cancel_fd` is readable. DeadlineExceeded:
  // `deadline` has passed.
  absl::Status Await(int fd, short events, Instant until) const {
    pollfd fds[] = {{.fd = fd, .events = events, .revents = 0},
                    {.fd = cancel_fd, .events = POLLIN, .revents = 0}};
    PollUntil(fds, std::min(deadline, until));
    return Check(fds[1].revents != 0 ? State::kCancelled : State::kWanted);
  }
  absl::Status Await(int fd, short events) const {
    return Await(fd, events, deadline);
  }

  enum class State { kWanted, kCancelled };
  absl::Status Check(State state) const {
    if (state == State::kCancelled) return absl::CancelledError("cancelled");
    if (MonotonicNow() < deadline) return absl::OkStatus();
    return absl::DeadlineExceededError("it took too long");
  }
};

// The connection to the partner node. Each function sends or receives the
// messages of one step of the measurement.
class Conversation {
 public:
  Conversation(StreamSocket socket, const Limit& limit)
      : socket_(std::move(socket)), limit_(limit) {
    const int bytes = kMaxUnsentBytes;
    setsockopt(socket_.fd.get(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &bytes,
               sizeof(bytes));
  }

  // Sets the limit for all later waits: their deadline and the descriptor that
  // cancels them.
  void SetLimit(const Limit& limit) { limit_ = limit; }

  absl::Status Send(const char* data, size_t bytes) {
    while (bytes > 0) {
      iovec piece{const_cast<char*>(data), bytes};
      const ssize_t sent = socket_.Send({&piece, 1});
      if (sent < 0 && errno != EAGAIN && errno != EINTR) return Broken(errno);
      if (sent > 0) {
        data += sent;
        bytes -= static_cast<size_t>(sent);
        continue;
      }
      absl::Status waited = limit_.Await(socket_.fd.get(), POLLOUT);
      if (!waited.ok()) return waited;
    }
    return absl::OkStatus();
  }

  absl::Status Receive(char* data, size_t bytes) {
    const size_t had = std::min(bytes, early_.size());
    early_.copy(data, had);
    early_.erase(0, had);
    data += had;
    bytes -= had;
    while (bytes > 0) {
      const absl::StatusOr<size_t> got =
          ReceiveSome(data, bytes, limit_.deadline);
      if (!got.ok()) return got.status();
      data += *got;
      bytes -= *got;
    }
    return absl::OkStatus();
  }

  // Returns the median time of several round trips in seconds.
  absl::StatusOr<double> MeasureRoundTrip() {
    std::array<char, kPingBytes> ping{};
    std::vector<double> times;
    const Instant began = MonotonicNow();
    while (ping[0] == kMore) {
      const Instant sent = MonotonicNow();
      const int count = static_cast<int>(times.size()) + 1;
      const bool is_last = count >= kMaxPings ||
                           (count >= kMinPings && sent >= began + kPingTime);
      ping[0] = is_last ? kEnd : kMore;
      absl::Status done = Send(ping.data(), ping.size());
      if (done.ok()) done = Receive(ping.data(), ping.size());
      if (!done.ok()) return done;
      times.push_back(ToSeconds(MonotonicNow() - sent));
      ping[0] = is_last ? kEnd : kMore;
    }
    return Median(std::move(times));
  }

  // Answers the partner's pings, up to the last one.
  absl::Status AnswerPings() {
    std::array<char, kPingBytes> ping{};
    for (int i = 0; i < kMaxPings && ping[0] == kMore; ++i) {
      absl::Status done = Receive(ping.data(), ping.size());
      if (done.ok()) done = Send(ping.data(), ping.size());
      if (!done.ok()) return done;
    }
    return absl::OkStatus();
  }

  // Sends data until the partner has measured the rate at which the data
  // arrives.
  absl::Status SendBulk() {
    const std::vector<char> chunk(kChunkBytes, kMore);
    while (true) {
      char stop = 0;
      iovec piece{&stop, 1};
      const ssize_t got = socket_.Receive({&piece, 1});
      if (got == 1) break;
      if (got == 0) return absl::UnavailableError("the partner hung up");
      if (errno != EAGAIN && errno != EINTR) return Broken(errno);
      absl::Status sent = Send(chunk.data(), chunk.size());
      if (!sent.ok()) return sent;
    }
    return Send(&kEnd, 1);
  }

  // Receives data for the rate measurement. Returns the rate in bytes per
  // second.
  absl::StatusOr<double> ReceiveBulk(const ConnectionLimits& limits) {
    std::vector<char> buffer(size_t{4} * kChunkBytes);
    size_t position = 0;           // offset of the next byte within its chunk
    std::optional<Instant> first;  // time at which the first data arrived
    // start of the time over which the rate is measured; nullopt: not started
    std::optional<Instant> from;
    size_t counted = 0;  // bytes received since the measurement began
    std::optional<double> rate;
    while (true) {
      const absl::StatusOr<size_t> got =
          ReceiveSome(buffer.data(), buffer.size(), limit_.deadline);
      if (!got.ok()) return got.status();
      for (size_t at = 0; at < *got;) {
        if (position == 0 && buffer[at] == kEnd) {
          // Keep the bytes after kEnd, the last byte of the data: the partner
          // may have sent them already for the next step of the measurement.
          early_.assign(buffer.data() + at + 1, *got - at - 1);
          if (rate.has_value()) return *rate;
          return absl::UnavailableError("the partner ended the measurement");
        }
        const size_t rest = std::min(kChunkBytes - position, *got - at);
        position = (position + rest) % kChunkBytes;
        at += rest;
      }
      const Instant now = MonotonicNow();
      if (!first.has_value()) first = now;
      if (rate.has_value() || now < *first + limits.warm_up) continue;
      if (!from.has_value()) {
        from = now;
        continue;
      }
      counted += *got;
      if (now < *from + limits.window) continue;
      rate = static_cast<double>(counted) / ToSeconds(now - *from);
      const char stop = 1;
      absl::Status sent = Send(&stop, 1);
      if (!sent.ok()) return sent;
    }
  }

 private:
  absl::StatusOr<size_t> ReceiveSome(char* data, size_t bytes, Instant until) {
    while (true) {
      iovec piece{data, bytes};
      const ssize_t got = socket_.Receive({&piece, 1});
      if (got > 0) return static_cast<size_t>(got);
      if (got == 0) return absl::UnavailableError("the partner hung up");
      if (errno != EAGAIN && errno != EINTR) return Broken(errno);
      absl::Status waited = limit_.Await(socket_.fd.get(), POLLIN, until);
      if (!waited.ok()) return waited;
    }
  }

  StreamSocket socket_;
  Limit limit_;
  // Bytes that ReceiveBulk has read beyond the end of its data. The next
  // Receive returns them.
  std::string early_;
};

// The result of a measurement: the connection to the partner, and the value
// that this end has measured.
struct Measured {
  Conversation partner;
  double value = 0;
};

absl::StatusOr<OwnedFd> Listen(int port) {
  for (const int family : {AF_INET6, AF_INET}) {
    OwnedFd fd(socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd.open()) continue;
    const int on = 1;
    const int off = 0;
    setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (family == AF_INET6) {
      setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
    }
    const SocketAddress any =
        *NumericAddress(family == AF_INET6 ? "::" : "0.0.0.0", port);
    if (bind(fd.get(), any.get(), any.size) == 0 &&
        listen(fd.get(), kMaxCandidates) == 0) {
      return fd;
    }
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "it cannot listen at port ", port, ": ", std::strerror(errno)));
}

// An accepted connection that may come from the partner.
struct Candidate {
  StreamSocket socket;
  short events = POLLIN;
  bool is_encrypted = false;  // whether the TLS handshake is complete
  std::string hello;

  // Continues the handshake and reads the hello. Returns false if the
  // connection does not come from the partner; true if it does, or if this is
  // not known yet.
  bool Advance(const std::string& expected) {
    if (socket.tls != nullptr && !is_encrypted) {
      const absl::StatusOr<short> wanted = socket.tls->Handshake();
      if (!wanted.ok()) return false;
      events = *wanted == 0 ? static_cast<short>(POLLIN) : *wanted;
      if (*wanted != 0) return true;
      is_encrypted = true;
    }
    while (hello.size() < kHelloBytes) {
      std::array<char, kHelloBytes> bytes;
      iovec piece{bytes.data(), kHelloBytes - hello.size()};
      const ssize_t got = socket.Receive({&piece, 1});
      if (got < 0 && (errno == EAGAIN || errno == EINTR)) return true;
      if (got <= 0) return false;
      hello.append(bytes.data(), static_cast<size_t>(got));
    }
    return IsSameSecret(hello, expected);
  }
};

// Accepts connections until one of them has sent the client's hello, and
// returns this connection.
absl::StatusOr<StreamSocket> Accept(const PairCheck& check,
                                    const std::optional<TlsContext>& tls,
                                    int port, const Limit& limit) {
  absl::StatusOr<OwnedFd> listener = Listen(port);
  if (!listener.ok()) return listener.status();
  const std::string expected = HelloOf(check, Speaker::kClient);
  std::deque<Candidate> candidates;
  while (true) {
    std::vector<pollfd> fds = {
        {.fd = listener->get(), .events = POLLIN, .revents = 0},
        {.fd = limit.cancel_fd, .events = POLLIN, .revents = 0}};
    for (const Candidate& one : candidates) {
      fds.push_back(
          {.fd = one.socket.fd.get(), .events = one.events, .revents = 0});
    }
    PollUntil(fds, limit.deadline);
    absl::Status state = limit.Check(
        fds[1].revents != 0 ? Limit::State::kCancelled : Limit::State::kWanted);
    if (absl::IsDeadlineExceeded(state)) {
      return absl::DeadlineExceededError("it did not connect in time");
    }
    if (!state.ok()) return state;
    std::deque<Candidate> kept;
    for (size_t i = 0; i < candidates.size(); ++i) {
      Candidate& one = candidates[i];
      if (fds[i + 2].revents != 0 && !one.Advance(expected)) continue;
      if (one.hello.size() == kHelloBytes) return std::move(one.socket);
      kept.push_back(std::move(one));
    }
    candidates = std::move(kept);
    OwnedFd fd(accept4(listener->get(), nullptr, nullptr,
                       SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd.open()) continue;
    if (candidates.size() == kMaxCandidates) candidates.pop_front();
    Candidate& added = candidates.emplace_back();
    if (tls.has_value()) {
      added.socket.tls =
          std::make_unique<TlsStream>(*tls, TlsStream::Side::kServer, fd.get());
    }
    added.socket.fd = std::move(fd);
  }
}

// Connects to the partner, which may not listen yet.
absl::StatusOr<StreamSocket> Dial(const PairCheck& check,
                                  const std::optional<TlsContext>& tls,
                                  const Limit& limit) {
  while (true) {
    absl::StatusOr<OwnedFd> fd =
        ConnectTcp(check.address, check.port, limit.deadline);
    if (fd.ok()) {
      StreamSocket socket{*std::move(fd), nullptr};
      if (tls.has_value()) {
        socket.tls = std::make_unique<TlsStream>(*tls, TlsStream::Side::kClient,
                                                 socket.fd.get());
        absl::Status encrypted = socket.tls->FinishHandshake(limit.deadline);
        if (!encrypted.ok()) return encrypted;
      }
      return socket;
    }
    const Instant again = MonotonicNow() + kRetryInterval;
    if (again >= limit.deadline) return fd.status();
    absl::Status waited = limit.Await(-1, 0, again);
    if (!waited.ok()) return waited;
  }
}

// Accepts the partner's connection, answers the partner's hello and pings, and
// receives its data. Returns the rate of the data in bytes per second.
absl::StatusOr<Measured> Serve(const PairCheck& check,
                               const std::optional<TlsContext>& tls, int port,
                               const Limit& total,
                               const ConnectionLimits& limits) {
  absl::StatusOr<StreamSocket> socket =
      Accept(check, tls, port, total.Within(limits.meet));
  if (!socket.ok()) return socket.status();
  Conversation partner(*std::move(socket), total);
  const std::string own = HelloOf(check, Speaker::kServer);
  absl::Status done = partner.Send(own.data(), own.size());
  if (done.ok()) done = partner.AnswerPings();
  if (!done.ok()) return done;
  const absl::StatusOr<double> rate = partner.ReceiveBulk(limits);
  if (!rate.ok()) return rate.status();
  return Measured{std::move(partner), *rate};
}

// Connects to the partner, exchanges hellos, measures the round trip, and sends
// data, whose rate the partner measures. Returns the round trip in seconds.
absl::StatusOr<Measured> Connect(const PairCheck& check,
                                 const std::optional<TlsContext>& tls,
                                 const Limit& total,
                                 const ConnectionLimits& limits) {
  absl::StatusOr<StreamSocket> socket =
      Dial(check, tls, total.Within(limits.meet));
  if (!socket.ok()) return socket.status();
  Conversation partner(*std::move(socket), total);
  const std::string own = HelloOf(check, Speaker::kClient);
  std::string theirs(kHelloBytes, '\0');
  absl::Status done = partner.Send(own.data(), own.size());
  if (done.ok()) done = partner.Receive(theirs.data(), theirs.size());
  if (!done.ok()) return done;
  if (!IsSameSecret(theirs, HelloOf(check, Speaker::kServer))) {
    return absl::UnavailableError(absl::StrCat(
        "another program answers at ", HostPort(check.address, check.port)));
  }
  const absl::StatusOr<double> round_trip = partner.MeasureRoundTrip();
  if (!round_trip.ok()) return round_trip.status();
  done = partner.SendBulk();
  if (!done.ok()) return done;
  return Measured{std::move(partner), *round_trip};
}

}  // namespace

absl::StatusOr<ConnectionValues> MeasureConnection(
    const PairCheck& check, rendezvous::Encryption encryption, int port,
    const GpuPairProgram& gpu_program, int cancel_fd,
    const ConnectionLimits& limits) {
  if (check.key.size() != kChannelKeyBytes) {
    return absl::FailedPreconditionError("the coordinator sent no key");
  }
  std::optional<TlsContext> tls;
  if (encryption == rendezvous::Encryption::kWorkers) {
    absl::StatusOr<TlsContext> made = TlsContext::Make(check.key, kPurpose);
    if (!made.ok()) return made.status();
    tls = *std::move(made);
  }
  const Limit total{.deadline = MonotonicNow() + limits.total,
                    .cancel_fd = cancel_fd};
  const bool serves_first = check.role == PairCheck::Role::kServe;
  absl::StatusOr<Measured> first = serves_first
                                       ? Serve(check, tls, port, total, limits)
                                       : Connect(check, tls, total, limits);
  if (!first.ok()) return first.status();
  absl::StatusOr<Measured> second =
      serves_first ? Connect(check, tls, total, limits)
                   : Serve(check, tls, port, total, limits);
  if (!second.ok()) return second.status();
  ConnectionValues values;
  values.bytes_per_s = (serves_first ? first : second)->value;
  values.round_trip_s = (serves_first ? second : first)->value;
  if (check.gpus == 0) return values;

  Conversation& partner = second->partner;
  const Limit limit{.deadline = MonotonicNow() + limits.gpus,
                    .cancel_fd = cancel_fd};
  partner.SetLimit(limit);
  const GpuPairChannel channel{
      .send = [&](const char* data,
                  size_t bytes) { return partner.Send(data, bytes); },
      .receive = [&](char* data,
                     size_t bytes) { return partner.Receive(data, bytes); }};
  absl::StatusOr<GpuPairValues> gpus =
      MeasureGpuPair(check, gpu_program, channel, cancel_fd, limit.deadline);
  if (!gpus.ok()) return gpus.status();
  values.gpus = *std::move(gpus);
  return values;
}

}  // namespace muster::agent
