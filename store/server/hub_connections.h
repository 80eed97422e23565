#ifndef MUSTER_STORE_SERVER_HUB_CONNECTIONS_H_
#define MUSTER_STORE_SERVER_HUB_CONNECTIONS_H_

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "base/owned_fd.h"
#include "store/core/store_effects.h"
#include "store/server/buffer_budget.h"
#include "store/server/hub_events.h"
#include "store/server/send_crew.h"
#include "store/server/store_connection.h"

namespace muster::store {

// The client id in a relay's effects that means the upstream connection.
inline constexpr StoreClientId kUpstreamClient = 0;

// The open connections of a hub with their sockets and buffers. Sends, tells
// epoll what to watch, accounts for buffers and closes connections; does not
// look into the bytes. A connection is closed in two steps, so that a reference
// to it stays valid while an event is handled: End frees its buffers, and
// Remove, later, its socket. To be used on one thread.
class HubConnections {
 public:
  using Role = StoreConnection::Role;

  // The arguments must outlive this object. `events` must be open before the
  // first Add. `helpers`: number of threads that help to send.
  HubConnections(HubEvents* events, BufferBudget* budget,
                 BoundedNotices* notices, size_t helpers)
      : events_(events), budget_(budget), notices_(notices), crew_(helpers) {}

  // Adds a connection and watches it for data. Returns null, with a notice, if
  // epoll cannot watch it. Role::kUpstream: at most once.
  StoreConnection* Add(StreamSocket socket, Role role);
  // Returns null if the connection is gone. O(1).
  StoreConnection* Find(StoreClientId id) const;
  StoreConnection* upstream() const { return upstream_; }
  size_t size() const { return table_.size(); }
  // Calls `visit` for each connection that is not ending. O(n).
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (const auto& connection : table_.slots()) {
      if (connection != nullptr && !connection->ending) visit(*connection);
    }
  }

  // Tells epoll to watch the socket: for reading unless the connection is
  // stalled, for writing if it has unsent data.
  void Watch(StoreConnection& connection);
  // Updates the connection's account in the buffer budget.
  void Charge(StoreConnection& connection);

  // Schedules a connection for sending, after data was appended to its `out`.
  // Closes the connection if too much of its data is unread.
  void Schedule(StoreConnection& connection);
  size_t scheduled() const { return scheduled_.size() - next_scheduled_; }
  // Removes and returns the next scheduled connection in FIFO order; null if
  // that connection is gone or ending. Requires scheduled() > 0.
  StoreConnection* TakeScheduled();
  // Sends once for each scheduled connection, on several threads. Returns those
  // connections: each may have unsent data left, which Send sends.
  std::vector<StoreConnection*> SendScheduled();
  // Sends as much as the kernel takes; ends the connection on an error.
  void Send(StoreConnection& connection);

  // Marks the connection as ending, once, and frees its buffers.
  void End(StoreConnection& connection);
  // Ends the connection, with a notice that names the peer and `reason`.
  void Refuse(StoreConnection& connection, std::string_view reason);
  // Refuses the connection with the largest buffers. For a full budget. O(n).
  void RefuseLargest();
  // Refuses connections that do not read their replies, until requests need not
  // wait any more. For an overdue wait. O(n) for each refused connection.
  void RefuseUnread();
  // Returns the next ending connection, or null. The connection stays until
  // Remove.
  StoreConnection* NextEnding();
  // Closes an ending connection.
  void Remove(StoreConnection& connection);
  // Closes all connections.
  void Clear();

  // An error once the upstream was refused or lost.
  const absl::Status& failure() const { return failure_; }
  // `failure`, but OK if there were clients and all of them had left before the
  // upstream was lost: the store of a round closes after its workers.
  absl::Status Result() const;

 private:
  void CountSent(StoreConnection& connection, size_t count);

  HubEvents* const events_;
  BufferBudget* const budget_;
  BoundedNotices* const notices_;
  SendCrew crew_;
  ConnectionTable table_;
  StoreConnection* upstream_ = nullptr;
  absl::Status failure_;
  bool had_clients_ = false;
  bool outlived_clients_ = false;

  std::vector<StoreClientId> ending_;
  // Ids of connections with new data. Entries before `next_scheduled_` are
  // taken.
  std::vector<StoreClientId> scheduled_;
  size_t next_scheduled_ = 0;
};

}  // namespace muster::store

#endif  // MUSTER_STORE_SERVER_HUB_CONNECTIONS_H_
