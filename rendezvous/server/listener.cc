#include "rendezvous/server/listener.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/blocked_signals.h"
#include "base/monotonic_clock.h"
#include "base/net/connect.h"
#include "base/owned_fd.h"
#include "rendezvous/server/caller_check.h"
#include "rendezvous/server/self_check.h"

namespace muster::rendezvous {
namespace {

using Id = ConnectionPool::Id;

constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
// The first bytes of a TLS handshake: the record type and the major version.
constexpr std::string_view kTlsHandshake = "\x16\x03";
// The empty SETTINGS frame that follows the HTTP/2 preface.
constexpr char kSettings[] = "\0\0\0\4\0\0\0\0\0";

constexpr int kBacklog = 4096;
constexpr int kMaxAcceptsPerTurn = 64;
constexpr int kMaxEvents = 128;
// TCP_USER_TIMEOUT in milliseconds. Equals the keepalive timeout in
// grpc_server.cc; gRPC's own listener sets both to the same value, too.
constexpr int kUserTimeoutMs = 20'000;
// The pause in accepting after accept() failed for lack of descriptors or
// memory.
constexpr Duration kAcceptPause = std::chrono::milliseconds(50);
// The pause in accepting when the pool of connections is full and none of them
// may be closed yet.
constexpr Duration kFullPause = std::chrono::milliseconds(10);
// Interval at which the listener checks which of gRPC's connections have ended.
// kSweepIntervalWhenFull: the interval while new connections must wait for the
// end of others, because a limit is reached.
constexpr Duration kSweepInterval = std::chrono::seconds(1);
constexpr Duration kSweepIntervalWhenFull = std::chrono::milliseconds(10);

// Values of epoll's user data for descriptors other than those of connections.
// The ids of connections are greater.
constexpr Id kListening = 0;
constexpr Id kWake = 1;
constexpr Id kOwnCheck = 2;
constexpr Id kFirstId = 16;

absl::Status FromErrno(int error) {
  const std::string text = std::strerror(error);
  switch (error) {
    case EADDRINUSE:
      return absl::AlreadyExistsError(text);
    case EACCES:
      return absl::PermissionDeniedError(text);
    case EADDRNOTAVAIL:
      return absl::InvalidArgumentError(text);
    case EMFILE:
    case ENFILE:
      return absl::ResourceExhaustedError(text);
    default:
      return absl::UnavailableError(text);
  }
}

void SetOption(int fd, int level, int name, int value) {
  // Errors are ignored, because the socket is usable without the option, too.
  setsockopt(fd, level, name, &value, sizeof(value));
}

// Returns the unique number (SO_COOKIE) of a socket; nullopt: `fd` is not an
// open socket.
std::optional<uint64_t> Cookie(int fd) {
  uint64_t cookie = 0;
  socklen_t size = sizeof(cookie);
  if (getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &size) != 0) {
    return std::nullopt;
  }
  return cookie;
}

bool IsWildcard(const SocketAddress& address) {
  if (address.family() == AF_INET6) {
    return IN6_IS_ADDR_UNSPECIFIED(
        &reinterpret_cast<const sockaddr_in6*>(&address.storage)->sin6_addr);
  }
  return reinterpret_cast<const sockaddr_in*>(&address.storage)
             ->sin_addr.s_addr == htonl(INADDR_ANY);
}

// Returns a non-blocking listening socket, or errno as a status. A socket for
// all IPv6 addresses also accepts IPv4 connections.
absl::StatusOr<OwnedFd> ListenOn(const SocketAddress& address) {
  OwnedFd fd(
      socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.open()) return FromErrno(errno);
  SetOption(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  // Accepted sockets inherit the options that are set here.
  SetOption(fd.get(), IPPROTO_TCP, TCP_NODELAY, 1);
  SetOption(fd.get(), IPPROTO_TCP, TCP_USER_TIMEOUT, kUserTimeoutMs);
  LimitRetransmissionInterval(fd.get());
  if (address.family() == AF_INET6 && IsWildcard(address)) {
    SetOption(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
  }
  if (bind(fd.get(), address.get(), address.size) != 0 ||
      listen(fd.get(), kBacklog) != 0) {
    return FromErrno(errno);
  }
  return fd;
}

// Returns the addresses to listen on. The caller tries them in this order,
// until one succeeds.
std::vector<SocketAddress> Candidates(const SocketAddress& address) {
  if (!IsWildcard(address)) return {address};
  // The first address stands for all addresses of IPv6 and IPv4. Listening on
  // it fails if the kernel has no IPv6; then the second one is tried.
  return {*NumericAddress("::", address.Port()),
          *NumericAddress("0.0.0.0", address.Port())};
}

bool HasDistinctCause(const absl::Status& status) {
  return status.code() == absl::StatusCode::kAlreadyExists ||
         status.code() == absl::StatusCode::kPermissionDenied ||
         status.code() == absl::StatusCode::kResourceExhausted;
}

int MillisecondsUntil(std::optional<Instant> deadline, Instant now) {
  if (!deadline.has_value()) return -1;
  if (*deadline <= now) return 0;
  // Round up, so that the deadline has passed when the wait ends.
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(*deadline - now);
  return static_cast<int>(std::min<int64_t>(left.count(), 60'000));
}

}  // namespace

FirstBytes JudgeFirstBytes(std::string_view bytes) {
  for (const std::string_view good : {kPreface, kTlsHandshake}) {
    const size_t common = std::min(good.size(), bytes.size());
    if (bytes.substr(0, common) != good.substr(0, common)) continue;
    return common == good.size() ? FirstBytes::kGood : FirstBytes::kMore;
  }
  return FirstBytes::kBad;
}

class Listener::Impl {
 public:
  Impl(OwnedFd listening, const Options& options)
      : listening_(std::move(listening)),
        address_(*BoundAddress(listening_.get())),
        max_descriptor_(options.max_descriptor),
        pool_(options.limits) {}

  ~Impl() { Stop(); }

  absl::Status Open() {
    epoll_ = OwnedFd(epoll_create1(EPOLL_CLOEXEC));
    wake_ = OwnedFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!epoll_.open() || !wake_.open()) return FromErrno(errno);
    Watch(wake_.get(), EPOLLIN, kWake);
    return absl::OkStatus();
  }

  int port() const { return address_.Port(); }

  absl::Status Start(HandOver hand_over) {
    hand_over_ = std::move(hand_over);
    Watch(listening_.get(), EPOLLIN, kListening);
    // Start the thread with all signals blocked, so that other threads handle
    // them.
    const BlockedSignals blocked;
    absl::Status started;
    try {
      thread_ = std::thread([this] { Run(); });
    } catch (const std::system_error& error) {
      started = absl::ResourceExhaustedError(
          absl::StrCat("no thread can be had: ", error.what()));
    }
    return started;
  }

  void Stop() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      ending_ = true;
    }
    Wake();
    if (thread_.joinable()) thread_.join();
    listening_.Close();
    own_check_.Close();
    std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& [id, connection] : connections_) {
      if (!connection.handed_over) close(connection.fd);
    }
    connections_.clear();
    by_peer_.clear();
    by_fd_.clear();
  }

  void Proved(const std::string& peer) {
    Tell(peer, [this](Id id) { pool_.Proved(id); });
  }
  void Joined(const std::string& peer) {
    Tell(peer, [this](Id id) { pool_.Joined(id); });
  }
  void Left(const std::string& peer) {
    Tell(peer, [this](Id id) { pool_.Left(id); });
  }

  absl::Status Check() {
    std::lock_guard<std::mutex> lock(mutex_);
    absl::Status status = check_.Ask(MonotonicNow());
    Wake();
    return status;
  }

 private:
  struct Connection {
    int fd = -1;  // owned by this object until `handed_over`
    uint64_t cookie = 0;
    std::string peer;  // the client's address, as PeerKey returns it
    bool handed_over = false;
  };

  void Wake() { eventfd_write(wake_.get(), 1); }

  void Watch(int fd, uint32_t events, Id id) {
    epoll_event event = {};
    event.events = events;
    event.data.u64 = id;
    epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
  }

  template <typename Change>
  void Tell(const std::string& peer, const Change& change) {
    const std::string key = PeerKey(peer);
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = by_peer_.find(key);
    if (found == by_peer_.end()) return;
    change(found->second);
    if (pool_.NeedsApply(MonotonicNow())) Wake();
  }

  // --- Functions that run on the listener's thread.

  void Run() {
    std::vector<epoll_event> events(kMaxEvents);
    while (true) {
      const int count =
          epoll_wait(epoll_.get(), events.data(), kMaxEvents,
                     MillisecondsUntil(NextDeadline(), MonotonicNow()));
      const Instant now = MonotonicNow();
      std::vector<int> hand_over;
      {
        std::lock_guard<std::mutex> lock(mutex_);
        if (ending_) return;
        for (int i = 0; i < count; ++i) Handle(events[i], now, &hand_over);
        if (accept_again_.has_value() && *accept_again_ <= now) {
          accept_again_.reset();
          SetAccepting(EPOLLIN);
        }
        Sweep(now);
        Apply(now, &hand_over);
        CheckSelf(now);
      }
      // Call hand_over_ without the lock: gRPC may call the services, and these
      // may call this listener, before hand_over_ returns.
      for (const int fd : hand_over) hand_over_(fd);
    }
  }

  std::optional<Instant> NextDeadline() {
    std::lock_guard<std::mutex> lock(mutex_);
    std::optional<Instant> next = pool_.NextDeadline();
    const auto take = [&](std::optional<Instant> due) {
      if (due.has_value())
        next = next.has_value() ? std::min(*next, *due) : due;
    };
    take(accept_again_);
    take(check_.NextDeadline());
    if (!pool_.on_trial().empty() || !pool_.callers().empty()) {
      take(swept_ + kSweepInterval);
    }
    return next;
  }

  void Handle(const epoll_event& event, Instant now,
              std::vector<int>* hand_over) {
    switch (event.data.u64) {
      case kListening:
        return AcceptSome(now, hand_over);
      case kWake: {
        eventfd_t unused;
        eventfd_read(wake_.get(), &unused);
        return;
      }
      case kOwnCheck:
        return OnOwnCheck();
      default: {
        const auto found = connections_.find(event.data.u64);
        // An earlier event of this loop iteration may have closed the
        // connection.
        if (found == connections_.end() || found->second.handed_over) return;
        Look(found->first, found->second.fd);
      }
    }
  }

  // Resumes accepting connections (`events` is EPOLLIN) or stops it (`events`
  // is 0). While accepting is stopped, the kernel queues new connections.
  void SetAccepting(uint32_t events) {
    epoll_event event = {};
    event.events = events;
    event.data.u64 = kListening;
    epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, listening_.get(), &event);
  }

  void PauseAccepting(Instant until) {
    accept_again_ = until;
    SetAccepting(0);
  }

  void AcceptSome(Instant now, std::vector<int>* hand_over) {
    for (int i = 0; i < kMaxAcceptsPerTurn; ++i) {
      if (!pool_.MayAccept()) return PauseAccepting(now + kFullPause);
      SocketAddress from;
      from.size = sizeof(from.storage);
      OwnedFd fd(accept4(listening_.get(),
                         reinterpret_cast<sockaddr*>(&from.storage), &from.size,
                         SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!fd.open()) {
        if (errno == EAGAIN || errno == EWOULDBLOCK) return;
        // An error that is not in this list concerns only the new connection.
        // So accept the next connection at once.
        if (errno != EMFILE && errno != ENFILE && errno != ENOBUFS &&
            errno != ENOMEM && errno != EINVAL && errno != EBADF) {
          continue;
        }
        return PauseAccepting(now + kAcceptPause);
      }
      // The kernel assigns the smallest free descriptor number. So a number of
      // max_descriptor_ or more shows that all descriptors for connections are
      // in use.
      if (fd.get() >= max_descriptor_)
        return PauseAccepting(now + kAcceptPause);
      const std::optional<uint64_t> cookie = Cookie(fd.get());
      if (!cookie.has_value()) continue;
      Add(now, std::move(fd), *cookie, from);
      Apply(now, hand_over);
    }
  }

  void Add(Instant now, OwnedFd fd, uint64_t cookie,
           const SocketAddress& from) {
    // The new connection has the descriptor number of a known one: the kernel
    // has reused the number, so the known connection has ended.
    const auto before = by_fd_.find(fd.get());
    if (before != by_fd_.end()) Forget(before->second);
    const Id id = next_id_++;
    Connection connection;
    connection.fd = fd.Release();
    connection.cookie = cookie;
    connection.peer = PeerKey(from.Uri());
    // Two connections with the same peer address and port cannot exist at once.
    // So the older one has ended.
    const auto same_peer = by_peer_.find(connection.peer);
    if (same_peer != by_peer_.end()) Forget(same_peer->second);
    by_fd_[connection.fd] = id;
    by_peer_[connection.peer] = id;
    const int number = connection.fd;
    connections_.emplace(id, std::move(connection));
    pool_.Opened(now, id, NetworkOf(from));
    if (Look(id, number)) Watch(number, EPOLLIN | EPOLLRDHUP | EPOLLET, id);
  }

  // Peeks at the first bytes of a connection that was not handed over to gRPC
  // yet. If they begin a session, tells the pool. Closes the connection and
  // returns false if the bytes cannot begin a session, or if the client has
  // closed the connection.
  bool Look(Id id, int fd) {
    char bytes[kPreface.size()];
    const ssize_t got = recv(fd, bytes, sizeof(bytes), MSG_PEEK | MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return true;
    const FirstBytes first =
        got <= 0 ? FirstBytes::kBad
                 : JudgeFirstBytes({bytes, static_cast<size_t>(got)});
    if (first == FirstBytes::kBad) {
      close(fd);
      Forget(id);
      return false;
    }
    if (first == FirstBytes::kGood) pool_.Spoke(id);
    return true;
  }

  // Removes from the listener's tables a connection that has ended.
  void Forget(Id id) {
    pool_.Ended(id);
    Erase(id);
  }

  void Erase(Id id) {
    const auto found = connections_.find(id);
    if (found == connections_.end()) return;
    const auto by_fd = by_fd_.find(found->second.fd);
    if (by_fd != by_fd_.end() && by_fd->second == id) by_fd_.erase(by_fd);
    const auto by_peer = by_peer_.find(found->second.peer);
    if (by_peer != by_peer_.end() && by_peer->second == id) {
      by_peer_.erase(by_peer);
    }
    connections_.erase(found);
  }

  void Apply(Instant now, std::vector<int>* hand_over) {
    const ConnectionPool::Changes changes = pool_.Apply(now);
    for (const Id id : changes.close) {
      const Connection& connection = connections_.at(id);
      if (connection.handed_over) {
        ShutDown(connection);
      } else {
        close(connection.fd);
      }
      Erase(id);
    }
    for (const Id id : changes.hand_over) {
      const auto found = connections_.find(id);
      // The loop over changes.close may have closed this connection.
      if (found == connections_.end()) continue;
      epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, found->second.fd, nullptr);
      found->second.handed_over = true;
      hand_over->push_back(found->second.fd);
    }
  }

  // Shuts down a connection that gRPC serves. gRPC may close the descriptor at
  // any time, and its number may then mean another file. Therefore this
  // function duplicates the descriptor and compares the socket's cookie (unique
  // number) first.
  void ShutDown(const Connection& connection) {
    const OwnedFd own(fcntl(connection.fd, F_DUPFD_CLOEXEC, 0));
    if (own.open() && Cookie(own.get()) == connection.cookie) {
      shutdown(own.get(), SHUT_RDWR);
    }
  }

  // Removes the connections that gRPC has closed. Skips a node's connection as
  // long as the node's stream lasts (until Left).
  void Sweep(Instant now) {
    const bool full = pool_.IsCrowded() || accept_again_.has_value();
    if (now - swept_ < (full ? kSweepIntervalWhenFull : kSweepInterval)) return;
    swept_ = now;
    std::vector<Id> ended;
    for (const ConnectionCrowd* crowd : {&pool_.on_trial(), &pool_.callers()}) {
      for (const auto& [id, network] : crowd->connections()) {
        const Connection& connection = connections_.at(id);
        if (Cookie(connection.fd) != connection.cookie) ended.push_back(id);
      }
    }
    for (const Id id : ended) Forget(id);
  }

  // --- The listener's check of itself: it connects to its own port.

  void CheckSelf(Instant now) {
    if (own_check_.open() && *check_.NextDeadline() <= now) {
      EndCheck("it did not begin a session within 5 s");
    }
    if (!check_.IsDue(now)) return;
    check_.Started(now);
    own_check_said_ = false;
    int error = 0;
    for (const SocketAddress& address : OwnAddresses()) {
      own_check_ = OwnedFd(socket(
          address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      if (own_check_.open() &&
          (connect(own_check_.get(), address.get(), address.size) == 0 ||
           errno == EINPROGRESS)) {
        Watch(own_check_.get(), EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
              kOwnCheck);
        return;
      }
      error = errno;
    }
    EndCheck(std::strerror(error));
  }

  std::vector<SocketAddress> OwnAddresses() const {
    if (!IsWildcard(address_)) return {address_};
    return {*NumericAddress("127.0.0.1", port()),
            *NumericAddress("::1", port())};
  }

  void OnOwnCheck() {
    if (!own_check_.open()) return;
    char byte;
    const ssize_t got = recv(own_check_.get(), &byte, 1, 0);
    const int error = got < 0 ? errno : 0;
    if (error == EAGAIN) {
      if (own_check_said_) return;
      own_check_said_ = true;
      std::string hello(kPreface);
      hello.append(kSettings, sizeof(kSettings) - 1);
      send(own_check_.get(), hello.data(), hello.size(), MSG_NOSIGNAL);
      return;
    }
    // An answer proves that the listener works. The end of an established
    // connection (own_check_said_) proves the same, because only this listener
    // can have closed the connection.
    if (got >= 0 || own_check_said_) {
      check_.Answered();
      own_check_.Close();
    } else {
      EndCheck(std::strerror(error));
    }
  }

  void EndCheck(const std::string& why) {
    own_check_.Close();
    check_.Failed(why);
  }

  OwnedFd listening_;
  const SocketAddress address_;
  const int max_descriptor_;
  OwnedFd epoll_;
  OwnedFd wake_;
  HandOver hand_over_;
  std::thread thread_;

  // Guards all members below. The listener's thread holds mutex_ while it
  // handles events, but not while it waits for them or calls hand_over_.
  std::mutex mutex_;
  bool ending_ = false;
  ConnectionPool pool_;
  std::unordered_map<Id, Connection> connections_;
  std::unordered_map<std::string, Id> by_peer_;
  std::unordered_map<int, Id> by_fd_;
  Id next_id_ = kFirstId;
  // The time until which the listener accepts no connections; nullopt: it
  // accepts them.
  std::optional<Instant> accept_again_;
  Instant swept_;
  SelfCheck check_;
  OwnedFd own_check_;
  // Whether own_check_, the connection of the listener to itself, is connected
  // and has sent the HTTP/2 preface.
  bool own_check_said_ = false;
};

absl::StatusOr<std::unique_ptr<Listener>> Listener::Listen(
    const Options& options) {
  absl::Status why = absl::UnavailableError("no address");
  for (const SocketAddress& address : Candidates(options.address)) {
    absl::StatusOr<OwnedFd> listening = ListenOn(address);
    if (!listening.ok()) {
      why = listening.status();
      if (HasDistinctCause(why)) return why;
      continue;
    }
    auto impl = std::make_unique<Impl>(*std::move(listening), options);
    const absl::Status opened = impl->Open();
    if (!opened.ok()) return opened;
    return std::unique_ptr<Listener>(new Listener(std::move(impl)));
  }
  return why;
}

Listener::Listener(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Listener::~Listener() = default;

int Listener::port() const { return impl_->port(); }

absl::Status Listener::Start(HandOver hand_over) {
  return impl_->Start(std::move(hand_over));
}

void Listener::Stop() { impl_->Stop(); }

void Listener::Proved(const std::string& peer) { impl_->Proved(peer); }
void Listener::Joined(const std::string& peer) { impl_->Joined(peer); }
void Listener::Left(const std::string& peer) { impl_->Left(peer); }

absl::Status Listener::Check() { return impl_->Check(); }

}  // namespace muster::rendezvous
