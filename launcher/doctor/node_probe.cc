#include "launcher/doctor/node_probe.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "base/net/socket_address.h"
#include "base/poll.h"

namespace muster::launcher {
namespace {

// The first eight bytes that a ProbeListener, the doctor's server on each node,
// sends on every connection. The next eight bytes are the wall clock time of
// the listener's node in nanoseconds since 1970, as a little-endian integer.
constexpr char kGreeting[] = "MUSTERDR";
constexpr size_t kGreetingBytes = 8;
constexpr size_t kAnswerBytes = kGreetingBytes + 8;
using Answer = std::array<unsigned char, kAnswerBytes>;

constexpr std::chrono::milliseconds kWithoutDescriptors(500);

int64_t UnixNow() {
  return std::chrono::nanoseconds(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

Answer AnswerNow() {
  Answer answer;
  std::memcpy(answer.data(), kGreeting, kGreetingBytes);
  auto now = static_cast<uint64_t>(UnixNow());
  for (size_t i = kGreetingBytes; i < kAnswerBytes; ++i, now >>= 8) {
    answer[i] = static_cast<unsigned char>(now & 255);
  }
  return answer;
}

int64_t TimeIn(const Answer& answer) {
  uint64_t time = 0;
  for (size_t i = kAnswerBytes; i-- > kGreetingBytes;) {
    time = time << 8 | answer[i];
  }
  return static_cast<int64_t>(time);
}

// One attempt to connect to another node and to read its answer.
struct Attempt {
  OwnedFd fd;
  Probe probe;
  bool connected = false;
  bool done = false;
  Answer answer = {};
  size_t received = 0;
  int64_t begun = 0;

  void Fail(const std::string& why) {
    probe.error = why;
    done = true;
    fd.Close();
  }
};

void Begin(const rendezvous::Endpoint& target, Attempt& attempt) {
  const std::optional<SocketAddress> address =
      NumericAddress(target.host, target.port);
  if (!address.has_value()) {
    attempt.Fail(absl::StrCat(target.host, " is no address"));
    return;
  }
  attempt.fd = OwnedFd(
      socket(address->family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  attempt.begun = UnixNow();
  if (!attempt.fd.open() ||
      (connect(attempt.fd.get(), address->get(), address->size) != 0 &&
       errno != EINPROGRESS)) {
    attempt.Fail(std::strerror(errno));
  }
}

// Continues a connection attempt after poll has reported an event of its
// descriptor: finishes the connect, or reads the answer.
void GoOn(Attempt& attempt) {
  if (!attempt.connected) {
    int error = 0;
    socklen_t size = sizeof(error);
    getsockopt(attempt.fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) {
      attempt.Fail(std::strerror(error));
      return;
    }
    attempt.connected = true;
    return;
  }
  const ssize_t n =
      recv(attempt.fd.get(), attempt.answer.data() + attempt.received,
           kAnswerBytes - attempt.received, 0);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n <= 0) {
    attempt.Fail(n == 0 ? "the connection was closed" : std::strerror(errno));
    return;
  }
  attempt.received += static_cast<size_t>(n);
  if (attempt.received < kAnswerBytes) return;
  if (std::memcmp(attempt.answer.data(), kGreeting, kGreetingBytes) != 0) {
    attempt.Fail("another program answers there");
    return;
  }
  const int64_t now = UnixNow();
  attempt.probe.round_trip = Duration(now - attempt.begun);
  attempt.probe.clock_ahead = Duration(TimeIn(attempt.answer) - attempt.begun -
                                       (now - attempt.begun) / 2);
  attempt.done = true;
  attempt.fd.Close();
}

}  // namespace

std::vector<Probe> ProbeAll(const std::vector<rendezvous::Endpoint>& targets,
                            Instant deadline) {
  std::vector<Attempt> attempts(targets.size());
  for (size_t i = 0; i < targets.size(); ++i) Begin(targets[i], attempts[i]);
  while (true) {
    std::vector<pollfd> waiting;
    std::vector<Attempt*> who;
    for (Attempt& attempt : attempts) {
      if (attempt.done) continue;
      const short events = attempt.connected ? POLLIN : POLLOUT;
      waiting.push_back({attempt.fd.get(), events, 0});
      who.push_back(&attempt);
    }
    if (waiting.empty()) break;
    if (PollUntil(waiting, deadline) == 0) {
      for (Attempt* attempt : who) {
        attempt->Fail(attempt->connected ? "connected, but no answer came"
                                         : "no answer");
      }
      break;
    }
    for (size_t i = 0; i < waiting.size(); ++i) {
      if (waiting[i].revents != 0) GoOn(*who[i]);
    }
  }
  std::vector<Probe> probes;
  for (Attempt& attempt : attempts) probes.push_back(std::move(attempt.probe));
  return probes;
}

ProbeListener::ProbeListener(OwnedFd listening, OwnedFd stopped, OwnedFd stop,
                             int port)
    : listening_(std::move(listening)),
      stopped_(std::move(stopped)),
      stop_(std::move(stop)),
      port_(port),
      thread_([this] { Serve(); }) {}

ProbeListener::~ProbeListener() {
  stop_.Close();
  thread_.join();
}

absl::StatusOr<std::unique_ptr<ProbeListener>> ProbeListener::Start() {
  // Listen on an IPv6 socket that accepts IPv4 connections too. If the kernel
  // has no IPv6, listen on an IPv4 socket.
  constexpr int kType = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
  OwnedFd fd(socket(AF_INET6, kType, 0));
  const bool six = fd.open();
  if (six) {
    const int no = 0;
    setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
  } else {
    fd = OwnedFd(socket(AF_INET, kType, 0));
  }
  const SocketAddress any = *NumericAddress(six ? "::" : "0.0.0.0", 0);
  std::optional<SocketAddress> bound;
  int pipe_ends[2] = {-1, -1};
  if (!fd.open() || bind(fd.get(), any.get(), any.size) != 0 ||
      listen(fd.get(), SOMAXCONN) != 0 ||
      !(bound = BoundAddress(fd.get())).has_value() ||
      pipe2(pipe_ends, O_CLOEXEC) != 0) {
    return absl::UnavailableError(
        absl::StrCat("cannot listen on a free port: ", std::strerror(errno)));
  }
  return std::unique_ptr<ProbeListener>(
      new ProbeListener(std::move(fd), OwnedFd(pipe_ends[0]),
                        OwnedFd(pipe_ends[1]), bound->Port()));
}

void ProbeListener::Serve() {
  while (true) {
    pollfd waiting[2] = {{listening_.get(), POLLIN, 0},
                         {stopped_.get(), POLLIN, 0}};
    PollUntil(waiting, kNoDeadline);
    if (waiting[1].revents != 0) return;
    const OwnedFd peer(
        accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!peer.open()) {
      // If no file descriptor or memory is free, wait: an immediate retry would
      // fail as well.
      if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) {
        PollUntil(stopped_.get(), POLLIN, MonotonicNow() + kWithoutDescriptors);
      }
      continue;
    }
    // The answer fits into any socket buffer, so that send does not block.
    const Answer answer = AnswerNow();
    (void)!send(peer.get(), answer.data(), answer.size(),
                MSG_NOSIGNAL | MSG_DONTWAIT);
  }
}

}  // namespace muster::launcher
