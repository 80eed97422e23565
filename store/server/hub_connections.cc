#include "store/server/hub_connections.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/time.h"
#include "store/wire/request.h"

namespace muster::store {
namespace {

// Limit of a connection's unread data in bytes, beyond which the connection is
// closed. For most clients RequestGate pauses the requests long before. But
// relays, and clients with watches, get data without a new request.
constexpr size_t kMaxUnread = size_t{1} << 20 | kMaxStoreReplyBytes * 2;

}  // namespace

StoreConnection* HubConnections::Add(StreamSocket socket, Role role) {
  StoreConnection& connection = table_.Add(std::move(socket), role);
  connection.watched = EPOLLIN;
  if (!events_->Add(connection.socket.fd.get(), connection.id, EPOLLIN)) {
    notices_->Say(absl::StrCat("the store cannot watch a connection: ",
                               std::strerror(errno)));
    table_.Remove(connection);
    return nullptr;
  }
  if (role == Role::kUpstream) {
    upstream_ = &connection;
  } else {
    had_clients_ = true;
  }
  return &connection;
}

StoreConnection* HubConnections::Find(StoreClientId id) const {
  return id == kUpstreamClient ? upstream_ : table_.Find(id);
}

void HubConnections::Watch(StoreConnection& connection) {
  const uint32_t wanted = (connection.stalled ? 0u : EPOLLIN) |
                          (connection.out.empty() ? 0u : EPOLLOUT);
  if (wanted == connection.watched || connection.ending) return;
  // The connection is scheduled: its new data is about to be sent. Watch is
  // called again after that, and then decides whether epoll must report when
  // the socket becomes writable.
  if (connection.scheduled) return;
  connection.watched = wanted;
  events_->Change(connection.socket.fd.get(), connection.id, wanted);
}

void HubConnections::Charge(StoreConnection& connection) {
  // Do not charge the upstream connection to the budget: its buffers have a
  // limit of their own.
  if (connection.role == Role::kUpstream) return;
  budget_->Charge(connection.share, connection.Memory(),
                  connection.out.capacity());
}

void HubConnections::Schedule(StoreConnection& connection) {
  Charge(connection);
  if (connection.out.size() > kMaxUnread) {
    Refuse(connection, "what is sent to it is not read");
    return;
  }
  if (connection.scheduled) return;
  connection.scheduled = true;
  scheduled_.push_back(connection.id);
}

StoreConnection* HubConnections::TakeScheduled() {
  StoreConnection* const connection = Find(scheduled_[next_scheduled_++]);
  if (scheduled() == 0) {
    scheduled_.clear();
    next_scheduled_ = 0;
  }
  if (connection == nullptr) return nullptr;
  connection->scheduled = false;
  return connection->ending ? nullptr : connection;
}

std::vector<StoreConnection*> HubConnections::SendScheduled() {
  std::vector<StoreConnection*> connections;
  // the connections to which the threads of the SendCrew send; sent_to[i]
  // belongs to jobs[i]
  std::vector<StoreConnection*> sent_to;
  std::vector<SendCrew::Job> jobs;
  while (scheduled() > 0) {
    StoreConnection* const connection = TakeScheduled();
    if (connection == nullptr) continue;
    connections.push_back(connection);
    // The threads of the SendCrew cannot encrypt, so the caller of
    // SendScheduled must send to encrypted connections.
    if (connection->socket.tls != nullptr) continue;
    sent_to.push_back(connection);
    jobs.push_back(
        {.fd = connection->socket.fd.get(), .bytes = connection->out.view()});
  }
  crew_.SendAll(jobs);
  for (size_t i = 0; i < jobs.size(); ++i) {
    if (jobs[i].sent <= 0) continue;
    CountSent(*sent_to[i], static_cast<size_t>(jobs[i].sent));
  }
  return connections;
}

void HubConnections::Send(StoreConnection& connection) {
  while (!connection.out.empty()) {
    const std::string_view bytes = connection.out.view();
    iovec piece = {const_cast<char*>(bytes.data()), bytes.size()};
    const ssize_t count = connection.socket.Send({&piece, 1});
    if (count < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN) End(connection);
      break;
    }
    CountSent(connection, static_cast<size_t>(count));
  }
  if (!connection.ending) Charge(connection);
}

void HubConnections::CountSent(StoreConnection& connection, size_t count) {
  connection.out.Consume(count);
  budget_->CountRead(connection.share, count);
}

void HubConnections::End(StoreConnection& connection) {
  if (connection.ending) return;
  connection.ending = true;
  ending_.push_back(connection.id);
  // Free both buffers. But while the service still handles the bytes in `in`,
  // free only `out`; Remove frees `in` later.
  connection.out = ByteQueue();
  if (!connection.processed) connection.in = ByteQueue();
  budget_->Charge(connection.share, 0, 0);
}

void HubConnections::Refuse(StoreConnection& connection,
                            std::string_view reason) {
  if (connection.ending) return;
  const std::string sentence = absl::StrCat(
      "the store ends its connection with ", PeerName(connection.socket.fd),
      ": ", absl::string_view(reason.data(), reason.size()));
  notices_->Say(sentence);
  if (&connection == upstream_) failure_ = absl::UnavailableError(sentence);
  End(connection);
}

void HubConnections::RefuseLargest() {
  StoreConnection* const largest = table_.First(
      [this](const StoreConnection& one, const StoreConnection& other) {
        return budget_->FillsBefore(one.share, other.share);
      });
  MUSTER_CHECK(largest != nullptr);
  Refuse(*largest,
         absl::StrCat("all connections together hold ", budget_->bytes(),
                      " bytes, and it ", largest->share.bytes, " of them"));
}

void HubConnections::RefuseUnread() {
  while (budget_->RequestsWait()) {
    StoreConnection* const first = table_.First(
        [this](const StoreConnection& one, const StoreConnection& other) {
          return budget_->BlocksBefore(one.share, other.share);
        });
    MUSTER_CHECK(first != nullptr);
    Refuse(*first, absl::StrCat("all requests have waited ",
                                ToSeconds(budget_->timeout()),
                                " s for it to read what was sent to it, of "
                                "which ",
                                first->share.outgoing, " bytes are left"));
  }
}

StoreConnection* HubConnections::NextEnding() {
  if (ending_.empty()) return nullptr;
  StoreConnection* const connection = Find(ending_.back());
  MUSTER_CHECK(connection != nullptr);
  return connection;
}

void HubConnections::Remove(StoreConnection& connection) {
  MUSTER_CHECK(!ending_.empty() && ending_.back() == connection.id);
  ending_.pop_back();
  if (&connection == upstream_) {
    upstream_ = nullptr;
    if (failure_.ok()) {
      outlived_clients_ = had_clients_ && size() == 1;
      failure_ = absl::UnavailableError("the connection to the store is lost");
    }
  }
  budget_->Charge(connection.share, 0, 0);
  table_.Remove(connection);
}

void HubConnections::Clear() {
  table_.Clear();
  upstream_ = nullptr;
}

absl::Status HubConnections::Result() const {
  return outlived_clients_ ? absl::OkStatus() : failure_;
}

}  // namespace muster::store
