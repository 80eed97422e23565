#include "store/server/store_hub.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/monotonic_clock.h"
#include "base/time.h"
#include "store/wire/limits.h"
#include "store/wire/relay_frames.h"

namespace muster::store {
namespace {

// Ids of events without a connection; ConnectionTable's ids are larger.
constexpr uint64_t kListenerId = 1;
static_assert(HubEvents::kStopId != kListenerId);

// Limit of one recv; then other connections get their turn.
constexpr size_t kReadBytes = size_t{256} << 10;
// If a client has this many unread bytes, its requests wait.
constexpr size_t kHighWater = size_t{1} << 20;
// Limit of unread data that no request of the connection limits (watches, a
// relay's channels); beyond it the connection is closed.
constexpr size_t kMaxUnread = size_t{1} << 20 | kMaxStoreReplyBytes * 2;
constexpr int kAcceptsPerEvent = 256;
// Interval of attempts to accept while new connections wait, since other
// threads may have freed descriptors; also the interval of checks whether
// clients read while requests wait.
constexpr std::chrono::milliseconds kTick(100);
// Minimum number of connections for which the threads of the crew send too.
// Fewer are sent before the threads have woken up.
constexpr size_t kCrewBatch = 64;

}  // namespace

StoreHub::StoreHub(StoreHubOptions options, StoreService* service)
    : options_(std::move(options)),
      service_(service),
      acceptor_(std::move(options_.listener), options_.max_connections),
      intake_(options_.relays, service, &channels_),
      budget_(options_.max_buffer_bytes, options_.patience),
      crew_(SendCrew::HelpersForThisHost()),
      ticks_(options_.tick),
      notices_(std::move(options_.on_notice)) {
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
    Admit(std::move(options_.upstream), Role::kUpstream);
  }
  return absl::OkStatus();
}

void StoreHub::Stop() { events_.Stop(); }

absl::Status StoreHub::Run() {
  while (!events_.stopped() && failure_.ok()) {
    const std::span<const epoll_event> events = events_.Wait(LongestPause());
    // Checked in each turn, because there may always be events.
    if (acceptor_.paused() && events_.now() >= next_accept_) {
      acceptor_.Resume(connections_.size());
    }
    for (const epoll_event& event : events) {
      if (!failure_.ok()) break;
      HandleEvent(event.data.u64, event.events);
      Settle();
    }
    if (budget_.IsOverdue(events_.now())) {
      EndWhoDoNotRead();
      Settle();
    }
    TickService();
  }
  acceptor_.Close();
  connections_.Clear();
  upstream_ = nullptr;
  return outlived_clients_ ? absl::OkStatus() : failure_;
}

std::optional<std::chrono::milliseconds> StoreHub::LongestPause() const {
  if (acceptor_.paused() || budget_.RequestsWait()) return kTick;
  if (service_->WantsTicks()) return ticks_.Left(events_.now());
  return std::nullopt;
}

void StoreHub::TickService() {
  // While requests wait, the service cannot see which clients have asked.
  const bool wanted = service_->WantsTicks() && !RequestsWait();
  if (!wanted || !ticks_.Take(MonotonicNow())) return;
  service_->OnTick(&effects_);
  Deliver();
  Settle();
}

void StoreHub::HandleEvent(uint64_t id, uint32_t events) {
  if (id == HubEvents::kStopId) return;  // handled by Run
  if (id == kListenerId) {
    Accept();
    return;
  }
  StoreConnection* connection = Find(id);
  if (connection == nullptr || connection->ending) return;
  if (events & EPOLLOUT) Send(*connection);
  if (connection->ending) return;
  if (!(events & (EPOLLIN | EPOLLHUP | EPOLLERR))) return;
  if (connection->watched & EPOLLIN) {
    // Read first, because data may precede the error: a client may set a value
    // and disconnect at once.
    OnReadable(*connection);
  } else if (events & (EPOLLHUP | EPOLLERR)) {
    End(*connection);
  }
}

void StoreHub::Accept() {
  for (int i = 0; i < kAcceptsPerEvent; ++i) {
    std::string why_paused;
    OwnedFd socket = acceptor_.Accept(connections_.size(), &why_paused);
    if (!why_paused.empty()) {
      next_accept_ = MonotonicNow() + kTick;
      Notice(
          absl::StrCat(why_paused, "; new connections wait until others end"));
    }
    if (!socket.open()) return;
    Admit(std::move(socket), Role::kClient);
  }
}

void StoreHub::Admit(OwnedFd socket, Role role) {
  StoreConnection& connection = connections_.Add(std::move(socket), role);
  connection.watched = EPOLLIN;
  if (!events_.Add(connection.socket.get(), connection.id, EPOLLIN)) {
    Notice(absl::StrCat("the store cannot watch a connection: ",
                        std::strerror(errno)));
    connections_.Remove(connection);
    return;
  }
  if (role == Role::kUpstream) {
    upstream_ = &connection;
    return;
  }
  had_clients_ = true;
  // A client sends first, so its greeting has usually arrived.
  OnReadable(connection);
}

StoreConnection* StoreHub::Find(StoreClientId id) {
  return id == kUpstreamClient ? upstream_ : connections_.Find(id);
}

void StoreHub::OnReadable(StoreConnection& connection) {
  if (!RequestsWait()) {
    Read(connection);
    return;
  }
  Enqueue(connection);
  Watch(connection);
}

void StoreHub::Read(StoreConnection& connection) {
  const ssize_t count =
      recv(connection.socket.get(), scratch_.data(), scratch_.size(), 0);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) {
    End(connection);
    return;
  }
  const std::string_view bytes(scratch_.data(), static_cast<size_t>(count));
  if (connection.in.empty()) {
    const size_t used = Process(connection, bytes);
    if (!connection.ending && used < bytes.size()) {
      connection.in.Append(bytes.substr(used));
      Charge(connection);
    }
    if (connection.stalled) Watch(connection);
    return;
  }
  connection.in.Append(bytes);
  ProcessHeld(connection);
}

void StoreHub::ProcessHeld(StoreConnection& connection) {
  const size_t used = Process(connection, connection.in.view());
  if (connection.ending) return;
  connection.in.Consume(used);
  Charge(connection);
  Watch(connection);
}

bool StoreHub::MustStall(const StoreConnection& connection) {
  // Never stall the upstream: both sides would wait for each other to read.
  if (connection.role == Role::kUpstream) return false;
  if (connection.out.size() > kHighWater) return true;
  if (connection.role != Role::kClient) return false;
  if (upstream_ != nullptr && upstream_->out.size() > kHighWater) {
    upstream_was_full_ = true;
    return true;
  }
  return !service_->MayGoOn(connection.id);
}

void StoreHub::GoOn(StoreConnection& connection) {
  if (!connection.stalled || MustStall(connection)) return;
  if (RequestsWait()) {
    Enqueue(connection);
  } else {
    ProcessHeld(connection);
  }
}

void StoreHub::Enqueue(StoreConnection& connection) {
  connection.stalled = true;
  if (connection.queued) return;
  connection.queued = true;
  queue_.push_back(connection.id);
}

void StoreHub::ResumeNext() {
  StoreConnection* connection = Find(queue_.front());
  queue_.pop_front();
  if (connection == nullptr || connection->ending) return;
  connection->queued = false;
  if (MustStall(*connection)) return;
  ProcessHeld(*connection);
  // Incomplete requests continue too; otherwise others always come first.
  if (!connection->stalled && !connection->ending) Read(*connection);
}

size_t StoreHub::Process(StoreConnection& connection, std::string_view bytes) {
  size_t used = 0;
  connection.stalled = false;
  processed_ = &connection;
  while (used < bytes.size() && !connection.ending && failure_.ok()) {
    if (MustStall(connection)) {
      connection.stalled = true;
      break;
    }
    if (budget_.RequestsWait()) {
      Enqueue(connection);
      break;
    }
    const absl::StatusOr<size_t> length =
        intake_.TakeOne(connection, bytes.substr(used), &effects_, &gone_);
    if (!length.ok()) {
      Refuse(connection, std::string_view(length.status().message().data(),
                                          length.status().message().size()));
      break;
    }
    if (*length == 0) break;
    used += *length;
    Deliver();
    // Remove a relay's client that is gone before the relay's next frame.
    ForgetGone();
  }
  processed_ = nullptr;
  return used;
}

void StoreHub::Deliver() {
  if (effects_.empty()) return;
  for (const StoreEffects::Effect& effect : effects_.All()) {
    if (ChannelTable::IsChannel(effect.client)) {
      DeliverToChannel(effect);
      continue;
    }
    StoreConnection* connection = Find(effect.client);
    if (connection == nullptr || connection->ending) continue;
    if (effect.kind == StoreEffects::Kind::kClose) {
      Refuse(*connection, effects_.BytesOf(effect));
      continue;
    }
    connection->out.Append(effects_.BytesOf(effect));
    Flush(*connection);
  }
  effects_.Clear();
  while (budget_.IsFull() && failure_.ok()) EndLargest();
}

void StoreHub::DeliverToChannel(const StoreEffects::Effect& effect) {
  const ChannelTable::Place* place = channels_.Find(effect.client);
  if (place == nullptr) return;
  StoreConnection* connection = Find(place->connection);
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
  Flush(*connection);
  if (frame.kind == RelayFrameKind::kGone) {
    channels_.End(*connection, frame.channel, &gone_);
  }
}

void StoreHub::Flush(StoreConnection& connection) {
  Charge(connection);
  if (connection.out.size() > kMaxUnread) {
    Refuse(connection, "what is sent to it is not read");
    return;
  }
  if (connection.flushing) return;
  connection.flushing = true;
  flushing_.push_back(connection.id);
}

void StoreHub::Send(StoreConnection& connection) {
  while (!connection.out.empty()) {
    const std::string_view bytes = connection.out.view();
    const ssize_t count = send(connection.socket.get(), bytes.data(),
                               bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN) End(connection);
      break;
    }
    Sent(connection, static_cast<size_t>(count));
  }
  if (connection.ending) return;
  Charge(connection);
  GoOn(connection);
  Watch(connection);
  if (&connection == upstream_ && upstream_was_full_) ResumeStalled();
}

void StoreHub::SendToMany(std::span<const StoreClientId> ids) {
  std::vector<StoreConnection*> connections;
  std::vector<SendCrew::Job> jobs;
  for (const StoreClientId id : ids) {
    StoreConnection* connection = Find(id);
    if (connection == nullptr || connection->ending) continue;
    connections.push_back(connection);
    jobs.push_back(
        {.fd = connection->socket.get(), .bytes = connection->out.view()});
  }
  crew_.SendAll(jobs);
  for (size_t i = 0; i < jobs.size(); ++i) {
    StoreConnection& connection = *connections[i];
    // An earlier connection may have resumed and caused this one to be closed.
    if (connection.ending) continue;
    connection.flushing = false;
    if (jobs[i].sent > 0) Sent(connection, static_cast<size_t>(jobs[i].sent));
    // Send the rest, if any, and resume the connection.
    Send(connection);
  }
}

void StoreHub::Sent(StoreConnection& connection, size_t count) {
  connection.out.Consume(count);
  budget_.CountRead(connection.share, count);
}

void StoreHub::ResumeStalled() {
  if (upstream_->out.size() > kHighWater) return;
  upstream_was_full_ = false;
  for (const auto& connection : connections_.slots()) {
    if (connection == nullptr || connection->ending) continue;
    GoOn(*connection);
  }
}

void StoreHub::Watch(StoreConnection& connection) {
  const uint32_t wanted = (connection.stalled ? 0u : EPOLLIN) |
                          (connection.out.empty() ? 0u : EPOLLOUT);
  if (wanted == connection.watched || connection.ending) return;
  // Send new data before telling epoll to watch for writability.
  if (connection.flushing) return;
  connection.watched = wanted;
  events_.Change(connection.socket.get(), connection.id, wanted);
}

void StoreHub::Charge(StoreConnection& connection) {
  // The upstream's buffers have a limit of their own.
  if (connection.role == Role::kUpstream) return;
  budget_.Charge(connection.share, connection.Memory(),
                 connection.out.capacity());
}

void StoreHub::ForgetGone() {
  while (!gone_.empty()) {
    service_->OnGone(gone_.back(), &effects_);
    gone_.pop_back();
    Deliver();
  }
}

void StoreHub::Settle() {
  for (size_t next = 0;;) {
    if (!ending_.empty()) {
      const StoreClientId id = ending_.back();
      ending_.pop_back();
      Destroy(id);
    } else if (!gone_.empty()) {
      ForgetGone();
    } else if (flushing_.size() - next >= kCrewBatch) {
      const size_t first = std::exchange(next, flushing_.size());
      SendToMany(std::span(flushing_).subspan(first));
    } else if (next < flushing_.size()) {
      StoreConnection* connection = Find(flushing_[next++]);
      if (connection == nullptr) continue;
      connection->flushing = false;
      if (!connection->ending) Send(*connection);
    } else if (budget_.IsFull() && failure_.ok()) {
      EndLargest();
    } else if (!queue_.empty() && !budget_.RequestsWait() && failure_.ok()) {
      ResumeNext();
    } else {
      break;
    }
  }
  flushing_.clear();
}

void StoreHub::End(StoreConnection& connection) {
  if (connection.ending) return;
  connection.ending = true;
  ending_.push_back(connection.id);
  // Free its memory now, except for the input that is being processed.
  connection.out = ByteQueue();
  if (&connection != processed_) connection.in = ByteQueue();
  budget_.Charge(connection.share, 0, 0);
}

void StoreHub::Refuse(StoreConnection& connection, std::string_view reason) {
  if (connection.ending) return;
  const std::string sentence = absl::StrCat(
      "the store ends its connection with ", PeerName(connection.socket), ": ",
      absl::string_view(reason.data(), reason.size()));
  Notice(sentence);
  if (&connection == upstream_) failure_ = absl::UnavailableError(sentence);
  End(connection);
}

void StoreHub::EndLargest() {
  StoreConnection* const largest = connections_.First(
      [this](const StoreConnection& one, const StoreConnection& other) {
        return budget_.FillsBefore(one.share, other.share);
      });
  MUSTER_CHECK(largest != nullptr);
  Refuse(*largest,
         absl::StrCat("all connections together hold ", budget_.bytes(),
                      " bytes, and it ", largest->share.bytes, " of them"));
}

void StoreHub::EndWhoDoNotRead() {
  while (budget_.RequestsWait()) {
    StoreConnection* const first = connections_.First(
        [this](const StoreConnection& one, const StoreConnection& other) {
          return budget_.BlocksBefore(one.share, other.share);
        });
    MUSTER_CHECK(first != nullptr);
    Refuse(
        *first,
        absl::StrCat("all requests have waited ", ToSeconds(budget_.patience()),
                     " s for it to read what was sent to it, of which ",
                     first->share.outgoing, " bytes are left"));
  }
}

void StoreHub::Destroy(StoreClientId id) {
  StoreConnection* connection = Find(id);
  MUSTER_CHECK(connection != nullptr);
  if (connection == upstream_) {
    upstream_ = nullptr;
    if (failure_.ok()) {
      // As at the end of a round: its store closes after its workers are done.
      outlived_clients_ = had_clients_ && connections_.size() == 1;
      failure_ = absl::UnavailableError("the connection to the store is lost");
    }
  }
  channels_.EndAll(*connection, &gone_);
  gone_.push_back(id);
  budget_.Charge(connection->share, 0, 0);
  connections_.Remove(*connection);
  acceptor_.Resume(connections_.size());
}

}  // namespace muster::store
