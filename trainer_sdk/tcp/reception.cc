#include "trainer_sdk/tcp/reception.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <list>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "base/net/connect.h"
#include "base/poll.h"
#include "trainer_sdk/process_group/formation.h"

namespace muster {
namespace {

// Whether the peer has ended the connection. Received data is discarded,
// because none is expected.
bool HasEnded(int fd) {
  char dropped[64];
  for (;;) {
    const ssize_t n = recv(fd, dropped, sizeof(dropped), MSG_DONTWAIT);
    if (n > 0 || (n < 0 && errno == EINTR)) continue;
    return n == 0 || errno != EAGAIN;
  }
}

}  // namespace

ListenerWatch::ListenerWatch(const sockaddr_storage& address, socklen_t length,
                             std::string who, Duration timeout, Instant now)
    : address_(address),
      length_(length),
      who_(std::move(who)),
      timeout_(timeout) {
  Dial(now);
}

void ListenerWatch::Dial(Instant now) {
  state_ = State::kDialling;
  socket_ = OwnedFd(socket(address_.ss_family,
                           SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket_.open()) {
    state_ = State::kBlind;
    return;
  }
  const int done = connect(
      socket_.get(), reinterpret_cast<const sockaddr*>(&address_), length_);
  if (done == 0) {
    OnDialled(ConnectResult(socket_.get()), now);
  } else if (errno != EINPROGRESS && errno != EINTR) {
    OnDialled(errno, now);
  }
}

void ListenerWatch::OnDialled(int error, Instant now) {
  if (error == 0) {
    state_ = State::kConnected;
    has_listened_ = true;
    return;
  }
  socket_.Close();
  state_ = error == ECONNREFUSED ? State::kRefused : State::kBlind;
  if (state_ == State::kRefused) until_ = has_listened_ ? now : now + timeout_;
}

pollfd ListenerWatch::polled() const {
  pollfd polled{socket_.get(), POLLIN, 0};
  if (state_ == State::kDialling) polled.events = POLLOUT;
  return polled;
}

absl::Status ListenerWatch::Look(Instant now) {
  if (state_ == State::kDialling &&
      PollUntil(socket_.get(), POLLOUT, kAtOnce)) {
    OnDialled(ConnectResult(socket_.get()), now);
  }
  if (state_ == State::kConnected && HasEnded(socket_.get())) Dial(now);
  if (state_ != State::kRefused || now < until_) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat(who_, " has died: no program listens there any more"));
}

ArrivingHello::State ArrivingHello::Read(StreamSocket& socket) {
  while (have < sizeof(hello)) {
    iovec rest = {reinterpret_cast<char*>(&hello) + have, sizeof(hello) - have};
    const ssize_t n = socket.Receive({&rest, 1});
    if (n > 0) {
      have += static_cast<size_t>(n);
    } else if (n < 0 && errno == EAGAIN) {
      return State::kMore;
    } else if (n == 0 || errno != EINTR) {
      return State::kBroken;
    }
  }
  return State::kWhole;
}

bool SendHello(StreamSocket& socket, const Hello& hello) {
  iovec whole = {const_cast<Hello*>(&hello), sizeof(hello)};
  return socket.Send({&whole, 1}) == sizeof(hello);
}

namespace {

// The longest time for a caller (an accepted connection) to identify itself. A
// rank identifies itself as soon as it is connected; the limit allows for a
// packet that is lost and sent again.
constexpr Duration kHelloTimeout = std::chrono::seconds(5);

class Reception {
 public:
  Reception(const GroupPlace& place, int listener, const Hello& own,
            const std::optional<TlsContext>& tls, Instant deadline,
            ListenerWatch& next, std::vector<StreamSocket>& sockets)
      : place_(place),
        listener_(listener),
        own_(own),
        tls_(tls),
        deadline_(deadline),
        next_(next),
        sockets_(sockets),
        max_callers_(own.size + kStrangers) {}

  absl::Status Run() {
    for (uint32_t left = own_.size - 1 - own_.rank; left > 0;) {
      if (absl::Status s = FormationStatus(place_); !s.ok()) return s;
      if (MonotonicNow() >= deadline_) {
        return absl::DeadlineExceededError("not every rank has called");
      }
      Sleep();
      // Call Hear before TakeCalls: Hear removes connections that have been
      // identified or have failed, and TakeCalls accepts new connections only
      // while the number of unidentified connections is below a limit.
      left -= Hear();
      if (absl::Status s = TakeCalls(); !s.ok()) return s;
      if (!AwaitsNext()) continue;
      if (absl::Status s = next_.Look(MonotonicNow()); !s.ok()) return s;
    }
    return absl::OkStatus();
  }

 private:
  struct Caller {
    StreamSocket socket;
    Instant until;
    // the events for which the caller's socket is polled
    short events = POLLIN;
    ArrivingHello arriving;
  };

  bool full() const { return callers_.size() >= max_callers_; }

  // Whether the next rank (own rank + 1) has not connected yet. Its listener is
  // watched only until then, because the next rank may close its listener at
  // any time after it has connected.
  bool AwaitsNext() const { return !sockets_[own_.rank + 1].open(); }

  // Blocks until a connection or data arrives, or a deadline passes.
  void Sleep() const {
    std::vector<pollfd> fds{{full() ? -1 : listener_, POLLIN, 0},
                            {FormationWakeFd(place_), POLLIN, 0}};
    Instant until = deadline_;
    for (const Caller& caller : callers_) {
      fds.push_back({caller.socket.fd.get(), caller.events, 0});
      until = std::min(until, caller.until);
    }
    if (AwaitsNext()) {
      fds.push_back(next_.polled());
      until = std::min(until, next_.until());
    }
    PollUntil(fds, std::min(until, MonotonicNow() + kLongestSleep));
  }

  // Reads greetings from accepted connections whose peers have not identified
  // themselves. Returns how many peers have now identified themselves as ranks
  // of the group.
  uint32_t Hear() {
    uint32_t heard = 0;
    const Instant now = MonotonicNow();
    for (auto caller = callers_.begin(); caller != callers_.end();) {
      const auto state = HearOne(*caller);
      if (state == ArrivingHello::State::kMore && now < caller->until) {
        ++caller;
        continue;
      }
      if (state == ArrivingHello::State::kWhole && Admit(*caller)) ++heard;
      caller = callers_.erase(caller);
    }
    return heard;
  }

  static ArrivingHello::State HearOne(Caller& caller) {
    if (caller.socket.tls != nullptr) {
      const absl::StatusOr<short> events = caller.socket.tls->Handshake();
      if (!events.ok()) return ArrivingHello::State::kBroken;
      caller.events = *events != 0 ? *events : short{POLLIN};
      if (*events != 0) return ArrivingHello::State::kMore;
    }
    return caller.arriving.Read(caller.socket);
  }

  bool Admit(Caller& caller) {
    const Hello& hello = caller.arriving.hello;
    if (!SameGroup(own_, hello) || hello.rank <= own_.rank ||
        sockets_[hello.rank].open() || !SendHello(caller.socket, own_)) {
      return false;
    }
    sockets_[hello.rank] = std::move(caller.socket);
    return true;
  }

  absl::Status TakeCalls() {
    while (!full()) {
      OwnedFd socket(
          accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (socket.open()) {
        Caller& caller = callers_.emplace_back();
        caller.until = MonotonicNow() + kHelloTimeout;
        if (tls_.has_value()) {
          caller.socket.tls = std::make_unique<TlsStream>(
              *tls_, TlsStream::Side::kServer, socket.get());
        }
        caller.socket.fd = std::move(socket);
        continue;
      }
      const int error = errno;
      switch (AcceptFailureOf(error)) {
        case AcceptFailure::kNobody:
          return absl::OkStatus();
        case AcceptFailure::kAgain:
          continue;
        case AcceptFailure::kFatal:
          return SocketError("taking a rank's call", error);
      }
    }
    return absl::OkStatus();
  }

  const GroupPlace& place_;
  const int listener_;
  const Hello& own_;
  const std::optional<TlsContext>& tls_;
  const Instant deadline_;
  ListenerWatch& next_;
  std::vector<StreamSocket>& sockets_;
  const size_t max_callers_;
  // accepted connections whose peers have not identified themselves
  std::list<Caller> callers_;
};

}  // namespace

absl::Status ReceiveRanks(const GroupPlace& place, int listener,
                          const Hello& own,
                          const std::optional<TlsContext>& tls,
                          Instant deadline, ListenerWatch& next,
                          std::vector<StreamSocket>& sockets) {
  return Reception(place, listener, own, tls, deadline, next, sockets).Run();
}

absl::Status SocketError(const std::string& what, int error) {
  const std::string message = absl::StrCat(what, ": ", std::strerror(error));
  switch (error) {
    case EMFILE:
      return absl::ResourceExhaustedError(
          absl::StrCat(message, "; this process may have no more (ulimit -n)"));
    case ENFILE:
      return absl::ResourceExhaustedError(
          absl::StrCat(message, "; this host has no more (fs.file-max)"));
    case ENOBUFS:
    case ENOMEM:
      return absl::ResourceExhaustedError(message);
    default:
      return absl::UnavailableError(message);
  }
}

AcceptFailure AcceptFailureOf(int error) {
  switch (error) {
    case EAGAIN:
      return AcceptFailure::kNobody;
    case EINTR:
    case ECONNABORTED:
    // On Linux, accept4 also returns network errors of the new connection, and
    // rejections by a firewall. The listener itself still works after these
    // errors.
    case EPERM:
    case EPROTO:
    case ENOPROTOOPT:
    case EOPNOTSUPP:
    case ENETDOWN:
    case ENETUNREACH:
    case EHOSTDOWN:
    case EHOSTUNREACH:
    case ENONET:
    case ETIMEDOUT:
      return AcceptFailure::kAgain;
    default:
      return AcceptFailure::kFatal;
  }
}

}  // namespace muster
