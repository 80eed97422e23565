#include "trainer_sdk/tcp/tcp_mesh.h"

#include <linux/sockios.h>
#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/check.h"
#include "base/monotonic_clock.h"
#include "base/seconds_text.h"

namespace muster {
namespace {

// Number of polls of one peer between checks of the clock and of all other
// peers.
constexpr int kTriesOfOne = 32;

int Milliseconds(Duration duration) {
  const auto whole =
      std::chrono::ceil<std::chrono::milliseconds>(duration).count();
  return static_cast<int>(std::clamp<int64_t>(whole, 0, 60'000));
}

}  // namespace

TcpMesh::TcpMesh(int rank, std::vector<PeerName> names,
                 std::vector<OwnedFd> sockets, const Options& options)
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
    if (peer != rank_) hangups_.Add(connections_[peer]->fd());
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
  // Closing a socket with unread data resets the connection, which discards
  // data that the peer has not acknowledged yet.
  for (const auto& connection : connections_) {
    if (connection == nullptr) continue;
    for (;;) {
      connection->Write();
      int unacknowledged = 0;
      (void)ioctl(connection->fd(), SIOCOUTQ, &unacknowledged);
      if (unacknowledged == 0 && connection->outgoing() == 0) break;
      pollfd hangup{connection->fd(), POLLRDHUP, 0};
      if (MonotonicNow() >= deadline || poll(&hangup, 1, 1) != 0) break;
    }
  }
}

absl::Status TcpMesh::Begin(const OperationSignature& signature,
                            Instant deadline) {
  signature_ = signature;
  begun_ = MonotonicNow();
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
  // shutdown instead of close, because another thread may be using the
  // descriptors.
  for (const auto& connection : connections_) {
    if (connection != nullptr) shutdown(connection->fd(), SHUT_RDWR);
  }
}

// Each rank tells the next what it calls, if only by the parts that it sends.
// So a mismatch is found even if each rank waits for the other.
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
      // A peer that keeps sending must not delay the deadline.
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
        idle = kTriesOfOne - 1;  // poll all peers next
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
  (void)poll(fds.data(), fds.size(), Milliseconds(deadline_ - MonotonicNow()));
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

}  // namespace muster
