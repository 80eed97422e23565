#include "store/server/store_hub.h"

#include <malloc.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/check.h"
#include "base/monotonic_clock.h"
#include "base/time.h"
#include "store/wire/relay_frames.h"
#include "store/wire/request.h"

namespace muster::store {
namespace {

// Ids of epoll events that belong to no connection. The ids of ConnectionTable
// are larger.
constexpr uint64_t kListenerId = 1;
// The first byte of a TLS handshake. No request of the store's protocol begins
// with it.
constexpr char kTlsHandshake = 0x16;
static_assert(HubEvents::kStopId != kListenerId);

// Limit of the bytes of one recv; after that, other connections are read.
constexpr size_t kReadBytes = size_t{256} << 10;
constexpr int kAcceptsPerEvent = 256;
// Interval of two periodic checks. While accepting is paused: whether it can
// resume, since another thread may have freed descriptors. While requests wait:
// whether clients read.
constexpr std::chrono::milliseconds kTick(100);
// If fewer connections than this are scheduled, the threads of the SendCrew do
// not help: the data is sent before they have woken up.
constexpr size_t kCrewBatch = 64;

}  // namespace

StoreHub::StoreHub(StoreHubOptions options, StoreService* service)
    : options_(std::move(options)),
      service_(service),
      acceptor_(std::move(options_.listener), options_.max_connections),
      notices_(std::move(options_.on_notice)),
      budget_(options_.max_buffer_bytes, options_.timeout),
      connections_(&events_, &budget_, &notices_,
                   SendCrew::HelpersForThisHost()),
      gate_(&budget_, service),
      intake_(options_.relays, service, &channels_),
      ticks_(options_.tick) {
  scratch_.resize(kReadBytes);
}

absl::Status StoreHub::Prepare() {
  absl::Status opened = events_.Open();
  if (!opened.ok()) return opened;
  if (!acceptor_.Watch(events_.epoll(), kListenerId)) {
    return absl::ResourceExhaustedError(
        absl::StrCat("watching the store's port: ", std::strerror(errno)));
  }
  if (options_.upstream.open()) {
    connections_.Add(std::move(options_.upstream),
                     StoreConnection::Role::kUpstream);
  }
  return absl::OkStatus();
}

void StoreHub::Stop() { events_.Stop(); }

absl::Status StoreHub::Run() {
  while (!events_.stopped() && connections_.failure().ok()) {
    const std::span<const epoll_event> events = events_.Wait(LongestPause());
    // Accepting is resumed here, on each turn of the loop, and not only when
    // Wait times out: under load, Wait may never time out.
    if (acceptor_.paused() && events_.now() >= next_accept_) {
      acceptor_.Resume(connections_.size());
    }
    for (const epoll_event& event : events) {
      if (!connections_.failure().ok()) break;
      HandleEvent(event.data.u64, event.events);
      Settle();
    }
    if (budget_.IsOverdue(events_.now())) {
      connections_.RefuseUnread();
      Settle();
    }
    TickService();
    open_connections_.store(connections_.size(), std::memory_order_relaxed);
    if (memory_.Falls(budget_.bytes() + service_->bytes())) ReturnFreeMemory();
  }
  acceptor_.Close();
  connections_.Clear();
  open_connections_ = 0;
  if (memory_.Falls(service_->bytes())) ReturnFreeMemory();
  const std::string refused = strangers_.Summary();
  if (!refused.empty()) Notice(refused);
  return connections_.Result();
}

std::optional<std::chrono::milliseconds> StoreHub::LongestPause() const {
  if (acceptor_.paused() || budget_.RequestsWait()) return kTick;
  if (service_->WantsTicks()) return ticks_.Left(events_.now());
  return std::nullopt;
}

void StoreHub::TickService() {
  // OnTick ends old offers (reservations of a queue's element for a client).
  // While requests wait for the buffer budget, the request with which a client
  // takes its element may wait, too. The client's offer must not end meanwhile,
  // so OnTick is not called.
  const bool wanted = service_->WantsTicks() && !gate_.RequestsWait();
  if (!wanted || !ticks_.Take(MonotonicNow())) return;
  service_->OnTick(&effects_);
  Deliver();
  Settle();
}

void StoreHub::HandleEvent(uint64_t id, uint32_t events) {
  // The event of HubEvents::Stop needs no action, because Run checks after each
  // event whether it must end.
  if (id == HubEvents::kStopId) return;
  if (id == kListenerId) {
    Accept();
    return;
  }
  StoreConnection* connection = connections_.Find(id);
  if (connection == nullptr || connection->ending) return;
  if (events & EPOLLOUT) Send(*connection);
  if (connection->ending) return;
  if (!(events & (EPOLLIN | EPOLLHUP | EPOLLERR))) return;
  if (connection->watched & EPOLLIN) {
    // Read the data before the end of the connection is handled, because a
    // client may set a value and disconnect at once.
    OnReadable(*connection);
  } else if (events & (EPOLLHUP | EPOLLERR)) {
    connections_.End(*connection);
  }
}

void StoreHub::Accept() {
  for (int i = 0; i < kAcceptsPerEvent; ++i) {
    std::string why_paused;
    StoreAcceptor::Accepted accepted =
        acceptor_.Accept(connections_.size(), &why_paused);
    if (!why_paused.empty()) {
      next_accept_ = MonotonicNow() + kTick;
      Notice(
          absl::StrCat(why_paused, "; new connections wait until others end"));
    }
    if (!accepted.socket.open()) return;
    if (!options_.clients.Contains(accepted.peer)) {
      NoteStranger(accepted.peer);
      continue;
    }
    StoreConnection* const connection = connections_.Add(
        {std::move(accepted.socket), nullptr}, StoreConnection::Role::kClient);
    if (connection != nullptr && options_.tls.has_value()) {
      connection->opening = StoreConnection::Opening::kUndecided;
      if (!options_.clear_text_clients.Contains(accepted.peer)) {
        Encrypt(*connection);
      }
    }
    // Read at once: the client sends first, so its greeting has usually arrived
    // already.
    if (connection != nullptr) OnReadable(*connection);
  }
}

void StoreHub::NoteStranger(const SocketAddress& peer) {
  // A socket for both IPv4 and IPv6 shows an IPv4 client with an IPv4-mapped
  // address. Remove the prefix.
  const std::string sentence =
      strangers_.Refused(std::string(absl::StripPrefix(peer.Ip(), "::ffff:")));
  if (!sentence.empty()) Notice(sentence);
}

void StoreHub::OnReadable(StoreConnection& connection) {
  if (!gate_.RequestsWait()) {
    Read(connection);
    return;
  }
  gate_.Enqueue(connection);
  connections_.Watch(connection);
}

void StoreHub::Encrypt(StoreConnection& connection) {
  // Turn off the buffering of TLS. Decrypted data in a buffer would go
  // unnoticed, because epoll only reports data that is still in the socket.
  connection.socket.tls = std::make_unique<TlsStream>(
      *options_.tls, TlsStream::Side::kServer, connection.socket.fd.get(),
      TlsStream::Options{.buffering = TlsStream::Buffering::kNone});
  connection.opening = StoreConnection::Opening::kHandshake;
}

bool StoreHub::IsOpened(StoreConnection& connection) {
  using Opening = StoreConnection::Opening;
  if (connection.opening == Opening::kUndecided) {
    char first = 0;
    const ssize_t count =
        recv(connection.socket.fd.get(), &first, 1, MSG_PEEK | MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    if (count == 1 && first == kTlsHandshake) {
      Encrypt(connection);
    } else {
      connection.opening = Opening::kDone;
    }
  }
  if (connection.opening == Opening::kHandshake) {
    const absl::StatusOr<short> events = connection.socket.tls->Handshake();
    if (!events.ok()) {
      const absl::string_view why = events.status().message();
      connections_.Refuse(connection, std::string_view(why.data(), why.size()));
      return false;
    }
    // `*events`: the events for which the TLS handshake waits. If it is not 0,
    // the handshake waits for data to read. The handshake never waits for room
    // to write, because its few bytes always fit into the socket's send buffer.
    if (*events != 0) return false;
    connection.opening = Opening::kDone;
  }
  return true;
}

void StoreHub::Read(StoreConnection& connection) {
  if (connection.opening != StoreConnection::Opening::kDone &&
      !IsOpened(connection)) {
    return;
  }
  iovec piece = {scratch_.data(), scratch_.size()};
  const ssize_t count = connection.socket.Receive({&piece, 1});
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) {
    connections_.End(connection);
    return;
  }
  const std::string_view bytes(scratch_.data(), static_cast<size_t>(count));
  if (connection.in.empty()) {
    const size_t used = Process(connection, bytes);
    if (!connection.ending && used < bytes.size()) {
      connection.in.Append(bytes.substr(used));
      connections_.Charge(connection);
    }
    if (connection.stalled) connections_.Watch(connection);
    return;
  }
  connection.in.Append(bytes);
  ProcessHeld(connection);
}

void StoreHub::ProcessHeld(StoreConnection& connection) {
  const size_t used = Process(connection, connection.in.view());
  if (connection.ending) return;
  connection.in.Consume(used);
  connections_.Charge(connection);
  connections_.Watch(connection);
}

void StoreHub::Resume(StoreConnection& connection) {
  if (!connection.stalled ||
      gate_.MustStall(connection, connections_.upstream())) {
    return;
  }
  if (gate_.RequestsWait()) {
    gate_.Enqueue(connection);
  } else {
    ProcessHeld(connection);
  }
}

void StoreHub::ResumeNext() {
  StoreConnection* connection = connections_.Find(gate_.TakeNext());
  if (connection == nullptr || connection->ending) return;
  connection->queued = false;
  if (gate_.MustStall(*connection, connections_.upstream())) return;
  ProcessHeld(*connection);
  // This connection may have received only a part of its next request. The rest
  // is read now, because otherwise requests of other connections would always
  // be handled before this request.
  if (!connection->stalled && !connection->ending) Read(*connection);
}

size_t StoreHub::Process(StoreConnection& connection, std::string_view bytes) {
  size_t used = 0;
  connection.stalled = false;
  connection.processed = true;
  while (used < bytes.size() && !connection.ending &&
         connections_.failure().ok()) {
    if (gate_.MustStall(connection, connections_.upstream())) {
      connection.stalled = true;
      break;
    }
    if (budget_.RequestsWait()) {
      gate_.Enqueue(connection);
      break;
    }
    const absl::StatusOr<size_t> length =
        intake_.TakeOne(connection, bytes.substr(used), &effects_, &gone_);
    if (!length.ok()) {
      connections_.Refuse(connection,
                          std::string_view(length.status().message().data(),
                                           length.status().message().size()));
      break;
    }
    if (*length == 0) break;
    used += *length;
    Deliver();
    // The frame may have reported that a relay's client has disconnected.
    // Notify the service before the relay's next frame is handled.
    TellGone();
  }
  connection.processed = false;
  return used;
}

void StoreHub::Deliver() {
  if (effects_.empty()) return;
  for (const StoreEffects::Effect& effect : effects_.All()) {
    if (ChannelTable::IsChannel(effect.client)) {
      DeliverToChannel(effect);
      continue;
    }
    StoreConnection* connection = connections_.Find(effect.client);
    if (connection == nullptr || connection->ending) continue;
    if (effect.kind == StoreEffects::Kind::kClose) {
      connections_.Refuse(*connection, effects_.BytesOf(effect));
      continue;
    }
    connection->out.Append(effects_.BytesOf(effect));
    connections_.Schedule(*connection);
  }
  effects_.Clear();
  while (budget_.IsFull() && connections_.failure().ok()) {
    connections_.RefuseLargest();
  }
}

void StoreHub::DeliverToChannel(const StoreEffects::Effect& effect) {
  const ChannelTable::Place* place = channels_.Find(effect.client);
  if (place == nullptr) return;
  StoreConnection* connection = connections_.Find(place->connection);
  if (connection == nullptr || connection->ending) return;
  RelayFrame frame{.channel = place->channel,
                   .kind = RelayFrameKind::kMessage,
                   .bytes = effects_.BytesOf(effect)};
  if (effect.kind == StoreEffects::Kind::kReplyToOne) {
    frame.kind = RelayFrameKind::kMessageForOne;
  } else if (effect.kind == StoreEffects::Kind::kClose) {
    frame.kind = RelayFrameKind::kGone;
  }
  AppendRelayFrame(frame, connection->out.back());
  connections_.Schedule(*connection);
  if (frame.kind == RelayFrameKind::kGone) {
    channels_.End(*connection, frame.channel, &gone_);
  }
}

void StoreHub::Send(StoreConnection& connection) {
  connections_.Send(connection);
  if (connection.ending) return;
  Resume(connection);
  connections_.Watch(connection);
  if (&connection == connections_.upstream() &&
      gate_.TakeUpstreamRoom(connection)) {
    connections_.ForEach([this](StoreConnection& other) { Resume(other); });
  }
}

void StoreHub::TellGone() {
  while (!gone_.empty()) {
    service_->OnGone(gone_.back(), &effects_);
    gone_.pop_back();
    Deliver();
  }
}

void StoreHub::Settle() {
  for (;;) {
    if (StoreConnection* const ended = connections_.NextEnding()) {
      channels_.EndAll(*ended, &gone_);
      gone_.push_back(ended->id);
      connections_.Remove(*ended);
      acceptor_.Resume(connections_.size());
    } else if (!gone_.empty()) {
      TellGone();
    } else if (connections_.scheduled() >= kCrewBatch) {
      for (StoreConnection* connection : connections_.SendScheduled()) {
        // SendScheduled has made one send call for `connection`, which may have
        // been closed since. If it is still open, send the rest of its data,
        // and let its waiting requests continue.
        if (!connection->ending) Send(*connection);
      }
    } else if (connections_.scheduled() > 0) {
      StoreConnection* const connection = connections_.TakeScheduled();
      if (connection != nullptr) Send(*connection);
    } else if (budget_.IsFull() && connections_.failure().ok()) {
      connections_.RefuseLargest();
    } else if (gate_.HasTurn() && connections_.failure().ok()) {
      ResumeNext();
    } else {
      break;
    }
  }
}

void ReturnFreeMemory() { malloc_trim(0); }

}  // namespace muster::store
