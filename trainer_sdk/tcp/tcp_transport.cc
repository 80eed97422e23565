#include "trainer_sdk/tcp/tcp_transport.h"

#include <linux/sockios.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/check.h"
#include "base/message_text.h"
#include "base/monotonic_clock.h"
#include "base/net/tls_stream.h"
#include "base/owned_fd.h"
#include "base/poll.h"
#include "base/time.h"
#include "trainer_sdk/network/mesh.h"
#include "trainer_sdk/tcp/frame_connection.h"
#include "trainer_sdk/tcp/frame_inbox.h"
#include "trainer_sdk/tcp/reception.h"
#include "trainer_sdk/tcp/rendezvous.h"
#include "trainer_sdk/tcp/send_counters.h"

namespace muster {
namespace {

// A mesh of TCP connections. The calling thread does all the work: while it
// waits, it polls the connections for some time, and then sleeps in poll(). No
// other thread takes part, so that small messages are fast.
class TcpMesh final : public Mesh {
 public:
  // The action of a waiting thread between two polls.
  enum class Between {
    kSpin,   // poll again at once: each rank of this host has its own core
    kYield,  // yield the core, because the awaited ranks may need it
  };

  struct Options {
    Between between;
    // The longest time for which a waiting thread polls before it sleeps.
    Duration spin;
    // Limit in bytes, for the messages of all peers together that arrive before
    // their receive is posted.
    int64_t keep_bytes;
    // The longest time for which the destructor waits until peers have
    // acknowledged all sent data.
    Duration linger;
  };

  // `sockets` are connected to all other ranks, indexed by rank.
  // `global_ranks`: the members' ranks in the world, indexed by rank. Empty:
  // not known.
  TcpMesh(int rank, std::vector<PeerName> names,
          const std::vector<int>& global_ranks,
          std::vector<StreamSocket> sockets, const Options& options);
  // Unless Close was called, sends the frame kGoodbye to each peer, and waits
  // for at most options.linger until the peers have acknowledged all data.
  ~TcpMesh() override;

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(names_.size()); }
  const PeerName& name(int peer) const override { return names_[peer]; }
  absl::Status Begin(const OperationSignature& signature,
                     Instant deadline) override;
  void Send(int peer, const void* data, int64_t bytes) override;
  void SendMessage(int peer, const MessageLabel& label,
                   const void* data) override;
  Ticket Receive(int peer, void* data, int64_t bytes) override;
  Ticket ReceiveMessage(int peer, const MessageLabel& label,
                        void* data) override;
  absl::Status Wait(Ticket ticket) override;
  absl::Status Flush() override;
  absl::Status Finish() override;
  bool PeerHungUp() override { return hangups_.Any(); }
  void Close() override;

 private:
  static constexpr int kEverybody = -1;

  // Sends and receives data until `done` returns true. Polls `peer` more often
  // than the other peers, because the missing data probably comes from `peer`.
  absl::Status Until(const std::function<bool()>& done, int peer);
  // Polls once: writes queued data, and reads from `peer`, or from all peers if
  // `peer` is kEverybody. Returns whether any data moved.
  absl::StatusOr<bool> Try(int peer);
  absl::StatusOr<bool> ReadFrom(int peer);
  // Blocks until a socket is ready, Close is called or the deadline has passed.
  void Sleep();
  void Announce();
  int64_t outgoing() const;
  absl::Status Late() const;
  absl::Status Gone(int peer) const;

  const int rank_;
  const std::vector<PeerName> names_;
  const Options options_;
  OwnedFd wake_;  // an eventfd, which Close makes readable to end a sleep
  std::atomic<bool> closed_{false};

  FrameInbox inbox_;
  std::vector<std::unique_ptr<FrameConnection>>
      // one connection per peer, indexed by rank; null for this rank
      connections_;
  HangupWatch hangups_;
  LinkMeter links_;

  OperationSignature signature_;
  Instant begun_;
  Instant deadline_;
  // whether the next rank (own rank + 1, or 0) has been notified of the current
  // operation
  bool announced_ = true;
};

// While a rank waits for data of one peer, it polls that peer. One in
// kTriesOfOne polls covers all peers, and after it the rank checks the clock.
constexpr int kTriesOfOne = 32;

TcpMesh::TcpMesh(int rank, std::vector<PeerName> names,
                 const std::vector<int>& global_ranks,
                 std::vector<StreamSocket> sockets, const Options& options)
    : rank_(rank),
      names_(std::move(names)),
      options_(options),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      inbox_(rank, names_, options.keep_bytes) {
  MUSTER_CHECK(sockets.size() == names_.size()) << "a socket for each rank";
  for (int peer = 0; peer < size(); ++peer) {
    connections_.push_back(peer == rank_ ? nullptr
                                         : std::make_unique<FrameConnection>(
                                               peer, std::move(sockets[peer])));
    if (peer == rank_) continue;
    hangups_.Add(connections_[peer]->fd());
    if (!global_ranks.empty()) {
      links_.Add(global_ranks[peer], connections_[peer]->fd());
    }
  }
}

TcpMesh::~TcpMesh() {
  if (closed_.load()) return;
  FrameHeader goodbye;
  goodbye.type = FrameType::kGoodbye;
  const Instant deadline = MonotonicNow() + options_.linger;
  for (const auto& connection : connections_) {
    if (connection != nullptr) connection->Send(goodbye, nullptr);
  }
  // Wait until each peer has acknowledged all data. If a socket is closed while
  // it has unread received data, the kernel resets the connection, and sent
  // data that is still in flight is lost.
  for (const auto& connection : connections_) {
    if (connection == nullptr) continue;
    for (;;) {
      connection->Write();
      int unacknowledged = 0;
      (void)ioctl(connection->fd(), SIOCOUTQ, &unacknowledged);
      if (unacknowledged == 0 && connection->outgoing() == 0) break;
      const Instant now = MonotonicNow();
      if (now >= deadline || PollUntil(connection->fd(), POLLRDHUP,
                                       now + std::chrono::milliseconds(1))) {
        break;
      }
    }
  }
}

absl::Status TcpMesh::Begin(const OperationSignature& signature,
                            Instant deadline) {
  signature_ = signature;
  begun_ = MonotonicNow();
  links_.Measure(begun_);
  deadline_ = deadline;
  announced_ = IsPointToPoint(signature.kind) || size() == 1;
  return inbox_.Begin(signature);
}

void TcpMesh::Send(int peer, const void* data, int64_t bytes) {
  FrameHeader header;
  header.type = FrameType::kPart;
  header.signature = signature_;
  header.bytes = bytes;
  if (peer == (rank_ + 1) % size()) announced_ = true;
  connections_[peer]->Send(header, data);
}

void TcpMesh::SendMessage(int peer, const MessageLabel& label,
                          const void* data) {
  FrameHeader header;
  header.type = FrameType::kMessage;
  header.label = label;
  header.bytes = label.count * SizeOf(label.dtype);
  connections_[peer]->Send(header, data);
}

Ticket TcpMesh::Receive(int peer, void* data, int64_t bytes) {
  return inbox_.Post(peer, data, bytes);
}

Ticket TcpMesh::ReceiveMessage(int peer, const MessageLabel& label,
                               void* data) {
  return inbox_.PostMessage(peer, label, data);
}

absl::Status TcpMesh::Wait(Ticket ticket) {
  absl::Status s =
      Until([&] { return inbox_.done(ticket) || !inbox_.status(ticket).ok(); },
            inbox_.peer(ticket));
  return s.ok() ? inbox_.status(ticket) : s;
}

absl::Status TcpMesh::Flush() {
  return Until([&] { return outgoing() == 0; }, kEverybody);
}

absl::Status TcpMesh::Finish() {
  Announce();
  return Flush();
}

void TcpMesh::Close() {
  closed_.store(true);
  const uint64_t one = 1;
  (void)!write(wake_.get(), &one, sizeof(one));
  // Shut the connections down, but do not close their descriptors, because
  // another thread may be using them.
  for (const auto& connection : connections_) {
    if (connection != nullptr) shutdown(connection->fd(), SHUT_RDWR);
  }
}

// Tells the next rank (own rank + 1, or 0) which operation this rank performs.
// Does nothing if the next rank knows already, because this rank has sent it a
// part of the operation. Ranks that wait for data in different operations thus
// detect the difference.
void TcpMesh::Announce() {
  if (announced_) return;
  announced_ = true;
  FrameHeader header;
  header.type = FrameType::kAnnounce;
  header.signature = signature_;
  connections_[(rank_ + 1) % size()]->Send(header, nullptr);
}

int64_t TcpMesh::outgoing() const {
  int64_t bytes = 0;
  for (const auto& connection : connections_) {
    if (connection != nullptr) bytes += connection->outgoing();
  }
  return bytes;
}

absl::Status TcpMesh::Until(const std::function<bool()>& done, int peer) {
  if (done()) return absl::OkStatus();
  Instant idle_since{};
  for (int idle = 0, busy = 0;;) {
    const bool all = idle % kTriesOfOne == kTriesOfOne - 1;
    const absl::StatusOr<bool> moved = Try(all ? kEverybody : peer);
    if (!moved.ok()) return moved.status();
    if (done()) return absl::OkStatus();
    for (int other = 0; other < size(); ++other) {
      const FrameConnection* const connection = connections_[other].get();
      if (connection == nullptr) continue;
      if (connection->lost_frames() ||
          (connection->ended() &&
           (!connection->left() || inbox_.Awaits(other)))) {
        return Gone(other);
      }
    }
    if (*moved) {
      idle = 0;
      // Check the deadline also while data moves. Otherwise a peer that keeps
      // sending could prolong the operation beyond its deadline.
      if (++busy % kTriesOfOne == 0 && MonotonicNow() >= deadline_) {
        return Late();
      }
      continue;
    }
    Announce();
    ++idle;
    if (all) {
      const Instant now = MonotonicNow();
      if (now >= deadline_) return Late();
      if (idle == kTriesOfOne) idle_since = now;
      if (now - idle_since >= options_.spin) {
        Sleep();
        idle = kTriesOfOne - 1;  // the next iteration polls all peers
        idle_since = now - options_.spin;
      }
    }
    if (closed_.load(std::memory_order_relaxed)) {
      return absl::AbortedError("the transport was closed");
    }
    if (options_.between == Between::kYield) sched_yield();
  }
}

absl::StatusOr<bool> TcpMesh::Try(int peer) {
  bool moved = false;
  for (const auto& connection : connections_) {
    if (connection != nullptr && connection->outgoing() > 0) {
      moved |= connection->Write();
    }
  }
  for (int other = 0; other < size(); ++other) {
    if (other == rank_ || (peer != kEverybody && peer != other)) continue;
    const absl::StatusOr<bool> read = ReadFrom(other);
    if (!read.ok()) return read.status();
    moved |= *read;
  }
  return moved;
}

absl::StatusOr<bool> TcpMesh::ReadFrom(int peer) {
  FrameConnection& connection = *connections_[peer];
  const bool was_ended = connection.ended();
  const absl::StatusOr<bool> read = connection.Read(inbox_);
  if (read.ok()) return *read && !(was_ended && connection.ended());
  if (read.status().code() != absl::StatusCode::kInvalidArgument) {
    return read.status();
  }
  return absl::UnavailableError(absl::StrCat(
      Describe(names_[peer]), ": ", std::string(read.status().message())));
}

void TcpMesh::Sleep() {
  std::vector<pollfd> fds{{wake_.get(), POLLIN, 0}};
  for (const auto& connection : connections_) {
    if (connection == nullptr) continue;
    decltype(pollfd::events) events = 0;
    if (!connection->held() && !connection->ended()) events |= POLLIN;
    if (connection->outgoing() > 0) events |= POLLOUT;
    if (events != 0) fds.push_back({connection->fd(), events, 0});
  }
  PollUntil(fds, deadline_);
}

absl::Status TcpMesh::Late() const {
  std::vector<std::string> who;
  for (int peer = 0; peer < size(); ++peer) {
    const FrameConnection* const connection = connections_[peer].get();
    if (connection == nullptr) continue;
    if (inbox_.Awaits(peer)) {
      who.push_back(absl::StrCat(
          Describe(names_[peer]), ", of whose ", inbox_.AwaitedBytes(peer),
          " bytes ", connection->arriving() ? connection->arrived() : 0,
          " have come"));
    } else if (connection->outgoing() > 0) {
      who.push_back(absl::StrCat(Describe(names_[peer]), ", which has yet to ",
                                 "take ", connection->outgoing(), " bytes"));
    }
  }
  return absl::DeadlineExceededError(
      absl::StrCat("waited ", SecondsText(MonotonicNow() - begun_), " for ",
                   absl::StrJoin(who, "; ")));
}

absl::Status TcpMesh::Gone(int peer) const {
  const FrameConnection& connection = *connections_[peer];
  return absl::UnavailableError(
      connection.left()
          ? absl::StrCat(Describe(names_[peer]), " has left the group")
          : absl::StrCat(Describe(names_[peer]),
                         " died or broke its connection: ", connection.why()));
}

// Returns what a waiting rank does between two polls. The rank yields its core
// if the ranks on this host outnumber the cores that this rank may use.
// Otherwise it keeps polling: an unnecessary yield costs milliseconds if
// another program wants the core.
TcpMesh::Between BetweenTries(const std::vector<PeerName>& names, int rank) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (sched_getaffinity(0, sizeof(cores), &cores) != 0) {
    return TcpMesh::Between::kYield;
  }
  const auto here = std::count_if(
      names.begin(), names.end(),
      [&](const PeerName& name) { return name.host == names[rank].host; });
  return here <= CPU_COUNT(&cores) ? TcpMesh::Between::kSpin
                                   : TcpMesh::Between::kYield;
}

}  // namespace

absl::StatusOr<std::unique_ptr<NetworkTransport>> NewTcpTransport(
    GroupPlace place, const TcpOptions& options, Instant deadline) {
  const absl::StatusOr<std::string> address = LocalAddress(options.address);
  if (!address.ok()) return address.status();
  if (!options.channel_key.ok()) return options.channel_key.status();
  std::optional<TlsContext> tls;
  if (!options.channel_key->empty()) {
    absl::StatusOr<TlsContext> made =
        TlsContext::Make(*options.channel_key, kTcpPurpose);
    if (!made.ok()) return made.status();
    tls = *std::move(made);
  }
  absl::StatusOr<ConnectedRanks> ranks =
      ConnectRanks(place, *address, std::move(tls), deadline);
  if (!ranks.ok()) return ranks.status();
  MUSTER_CHECK(options.ranks_in_errors.empty() ||
               options.ranks_in_errors.size() == ranks->names.size())
      << "every rank is told as one";
  for (size_t rank = 0; rank < options.ranks_in_errors.size(); ++rank) {
    ranks->names[rank].rank = options.ranks_in_errors[rank];
  }
  const TcpMesh::Options how{BetweenTries(ranks->names, place.rank),
                             options.spin, options.keep_bytes, options.linger};
  auto mesh = std::make_unique<TcpMesh>(place.rank, std::move(ranks->names),
                                        place.global_ranks,
                                        std::move(ranks->sockets), how);
  return std::make_unique<NetworkTransport>("tcp", std::move(place),
                                            std::move(mesh));
}

}  // namespace muster
