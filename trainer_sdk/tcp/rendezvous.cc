#include "trainer_sdk/tcp/rendezvous.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/monotonic_clock.h"
#include "base/net/connect.h"
#include "base/net/socket_address.h"
#include "base/poll.h"
#include "trainer_sdk/process_group/formation.h"
#include "trainer_sdk/tcp/reception.h"

namespace muster {
namespace {

// The time after which the next rank (own rank + 1) counts as dead if its
// listener refuses connections and it has not connected to this rank. 3 s are
// enough: by then all addresses have been published, so a living next rank
// connects at once.
constexpr Duration kCallTimeout = std::chrono::seconds(3);

absl::StatusOr<SocketAddress> Parse(const std::string& address, int port) {
  const std::optional<SocketAddress> numeric = NumericAddress(address, port);
  if (numeric.has_value()) return *numeric;
  return absl::InvalidArgumentError(
      absl::StrCat("'", address, "' is no numeric address"));
}

class Rendezvous {
 public:
  Rendezvous(const GroupPlace& place, std::optional<TlsContext> tls,
             Instant deadline)
      : place_(place), tls_(std::move(tls)), deadline_(deadline) {
    ranks_.names.resize(place.size);
    ranks_.sockets.resize(place.size);
    addresses_.resize(place.size);
  }

  absl::StatusOr<ConnectedRanks> Run(const std::string& address) {
    absl::Status s = Listen(address);
    if (s.ok()) s = LearnOfOthers();
    for (int peer = 0; s.ok() && peer < place_.rank; ++peer) s = Dial(peer);
    if (s.ok()) s = Receive();
    for (int peer = 0; s.ok() && peer < place_.rank; ++peer) s = Confirm(peer);
    if (s.ok()) return std::move(ranks_);
    // Publish the cause before this rank's connections close, so that peers
    // that notice the closed connections find the cause.
    return FailFormation(
        place_, absl::Status(s.code(), absl::StrCat(place_.name,
                                                    ": connecting the ranks: ",
                                                    std::string(s.message()))));
  }

 private:
  absl::Status Listen(const std::string& address) {
    const absl::StatusOr<SocketAddress> own = Parse(address, 0);
    if (!own.ok()) return own.status();
    listener_ = OwnedFd(
        socket(own->family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    // The backlog of listen() must have room for processes that are not ranks,
    // and for the higher ranks, which may connect before this rank accepts.
    if (!listener_.open() ||
        bind(listener_.get(), own->get(), own->size) != 0 ||
        listen(listener_.get(), place_.size + kStrangers) != 0) {
      return SocketError(absl::StrCat("listening at ", address), errno);
    }
    const std::optional<SocketAddress> bound = BoundAddress(listener_.get());
    if (!bound.has_value()) return SocketError("getsockname", errno);
    if (place_.rank == 0) {
      std::string random(kSecretBytes / 2, '\0');
      if (getrandom(random.data(), random.size(), 0) !=
          static_cast<ssize_t>(random.size())) {
        return SocketError("getrandom", errno);
      }
      absl::Status s =
          place_.store->Set("tcp/secret", absl::BytesToHexString(random));
      if (!s.ok()) return s;
    }
    return place_.store->Set(absl::StrCat("tcp/", place_.rank),
                             absl::StrCat(address, " ", bound->Port(), " ",
                                          Encoded(OwnName(place_.rank))));
  }

  absl::Status LearnOfOthers() {
    std::vector<std::string> keys{"tcp/secret"};
    for (int rank = 0; rank < place_.size; ++rank) {
      keys.push_back(absl::StrCat("tcp/", rank));
    }
    absl::Status s = place_.store->Wait(keys, deadline_);
    if (!s.ok()) return s;
    for (int rank = -1; rank < place_.size; ++rank) {
      const absl::StatusOr<std::string> value =
          place_.store->Get(keys[rank + 1], deadline_);
      if (!value.ok()) return value.status();
      s = rank < 0 ? LearnSecret(*value) : Learn(rank, *value);
      if (!s.ok()) return s;
    }
    return absl::OkStatus();
  }

  absl::Status LearnSecret(const std::string& secret) {
    if (secret.size() != kSecretBytes) {
      return absl::InternalError("the group's secret is not one");
    }
    std::memcpy(own_.magic, kHelloMagic, sizeof(kHelloMagic));
    std::memcpy(own_.secret, secret.data(), kSecretBytes);
    own_.rank = static_cast<uint32_t>(place_.rank);
    own_.size = static_cast<uint32_t>(place_.size);
    return absl::OkStatus();
  }

  absl::Status Learn(int rank, const std::string& value) {
    const std::vector<std::string> parts =
        absl::StrSplit(value, absl::MaxSplits(' ', 2));
    int port = 0;
    if (parts.size() != 3 || !absl::SimpleAtoi(parts[1], &port) || port <= 0 ||
        port > 65535) {
      return absl::InternalError(
          absl::StrCat("rank ", rank, " did not say where it listens"));
    }
    absl::StatusOr<PeerName> name = DecodePeerName(rank, parts[2]);
    if (!name.ok()) return name.status();
    absl::StatusOr<SocketAddress> address = Parse(parts[0], port);
    if (!address.ok()) return address.status();
    ranks_.names[rank] = *std::move(name);
    addresses_[rank] = *address;
    return absl::OkStatus();
  }

  // Waits until `fd`, the socket of the connection to `peer`, is ready for
  // `events`.
  absl::Status Await(int fd, short events, int peer) {
    for (;;) {
      if (absl::Status s = FormationStatus(place_); !s.ok()) return s;
      const Instant now = MonotonicNow();
      if (now >= deadline_) return Absent(peer);
      pollfd fds[] = {{fd, events, 0}, {FormationWakeFd(place_), POLLIN, 0}};
      PollUntil(fds, std::min(deadline_, now + kLongestSleep));
      if (fds[0].revents != 0) return absl::OkStatus();
    }
  }

  absl::Status Dial(int peer) {
    const SocketAddress& address = addresses_[peer];
    OwnedFd fd(socket(address.family(),
                      SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd.open()) return SocketError("making a socket", errno);
    if (connect(fd.get(), address.get(), address.size) != 0) {
      if (errno != EINPROGRESS) return Unreachable(peer, errno);
      if (absl::Status s = Await(fd.get(), POLLOUT, peer); !s.ok()) return s;
    }
    if (const int error = ConnectResult(fd.get()); error != 0) {
      return Unreachable(peer, error);
    }
    StreamSocket connection{std::move(fd), nullptr};
    if (absl::Status s = Encrypt(peer, connection); !s.ok()) return s;
    if (!SendHello(connection, own_)) return Unreachable(peer, errno);
    ranks_.sockets[peer] = std::move(connection);
    return absl::OkStatus();
  }

  // Performs the TLS handshake with a lower rank, and waits for its answers.
  // This cannot cause a deadlock: a rank answers as soon as it is connected to
  // all ranks below it, and rank 0 has none below it.
  absl::Status Encrypt(int peer, StreamSocket& connection) {
    if (!tls_.has_value()) return absl::OkStatus();
    const int fd = connection.fd.get();
    connection.tls =
        std::make_unique<TlsStream>(*tls_, TlsStream::Side::kClient, fd);
    for (;;) {
      const absl::StatusOr<short> events = connection.tls->Handshake();
      if (!events.ok()) {
        return absl::Status(
            events.status().code(),
            absl::StrCat("reaching ", Describe(ranks_.names[peer]), " at ",
                         Place(peer), ": ",
                         std::string(events.status().message())));
      }
      if (*events == 0) return absl::OkStatus();
      if (absl::Status s = Await(fd, *events, peer); !s.ok()) return s;
    }
  }

  absl::Status Receive() {
    const int next = place_.rank + 1;
    if (next == place_.size) return absl::OkStatus();
    ListenerWatch watch(
        addresses_[next].storage, addresses_[next].size,
        absl::StrCat(Describe(ranks_.names[next]), " at ", Place(next)),
        kCallTimeout, MonotonicNow());
    absl::Status s = ReceiveRanks(place_, listener_.get(), own_, tls_,
                                  deadline_, watch, ranks_.sockets);
    if (!absl::IsDeadlineExceeded(s) || !FormationStatus(place_).ok()) return s;
    int absent = next;
    while (ranks_.sockets[absent].open()) ++absent;
    return Absent(absent);
  }

  // Checks the greeting of the process that accepted the connection: the
  // process must be rank `peer` of this group.
  absl::Status Confirm(int peer) {
    StreamSocket& socket = ranks_.sockets[peer];
    ArrivingHello arriving;
    auto state = arriving.Read(socket);
    while (state == ArrivingHello::State::kMore) {
      if (absl::Status s = Await(socket.fd.get(), POLLIN, peer); !s.ok()) {
        return s;
      }
      state = arriving.Read(socket);
    }
    if (state == ArrivingHello::State::kBroken ||
        !SameGroup(own_, arriving.hello) ||
        arriving.hello.rank != static_cast<uint32_t>(peer)) {
      return absl::UnavailableError(
          absl::StrCat(Describe(ranks_.names[peer]), " broke the connection"));
    }
    return absl::OkStatus();
  }

  absl::Status Unreachable(int peer, int error) {
    return SocketError(absl::StrCat("reaching ", Describe(ranks_.names[peer]),
                                    " at ", Place(peer)),
                       error);
  }

  absl::Status Absent(int peer) {
    return absl::DeadlineExceededError(
        absl::StrCat("no connection with ", Describe(ranks_.names[peer]),
                     " at ", Place(peer), " in time"));
  }

  std::string Place(int peer) {
    const SocketAddress& address = addresses_[peer];
    return HostPort(address.Ip(), address.Port());
  }

  const GroupPlace& place_;
  const std::optional<TlsContext> tls_;
  const Instant deadline_;
  OwnedFd listener_;
  Hello own_{};
  std::vector<SocketAddress> addresses_;
  ConnectedRanks ranks_;
};

}  // namespace

absl::StatusOr<ConnectedRanks> ConnectRanks(const GroupPlace& place,
                                            const std::string& address,
                                            std::optional<TlsContext> tls,
                                            Instant deadline) {
  return Rendezvous(place, std::move(tls), deadline).Run(address);
}

}  // namespace muster
