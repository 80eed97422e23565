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

// The client id of the upstream connection, by which a relay sends frames to
// the store server (StoreEffects).
inline constexpr StoreClientId kUpstreamClient = 0;

// The open connections of a StoreHub (the network loop of a store server or
// relay), with their sockets and buffers. Sends data, registers sockets in
// epoll, accounts for buffers and closes connections. Does not parse the data.
// Single-threaded.
//
// A connection is closed in two steps: End frees its buffers; Remove, later,
// closes its socket. So a reference to the connection stays valid while an
// event is handled.
class HubConnections {
 public:
  using Role = StoreConnection::Role;

  // All pointed-to objects must outlive this object. `events` must be open
  // before the first Add. `helpers`: number of threads that help to send.
  HubConnections(HubEvents* events, BufferBudget* budget,
                 BoundedNotices* notices, size_t helpers)
      : events_(events), budget_(budget), notices_(notices), crew_(helpers) {}

  // Adds a connection and registers it in epoll for reading. Returns null,
  // after a notice, if epoll cannot register it. Role::kUpstream: at most once.
  StoreConnection* Add(StreamSocket socket, Role role);
  // Returns the connection with this id; null if it is already removed. O(1).
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

  // Updates the connection's registration in epoll: for reading unless the
  // connection is stalled, for writing if it has unsent data.
  void Watch(StoreConnection& connection);
  // Updates the connection's share in the buffer budget.
  void Charge(StoreConnection& connection);

  // Schedules a connection for sending, after data was appended to its `out`.
  // Closes the connection if `out` has become too large because the peer does
  // not read.
  void Schedule(StoreConnection& connection);
  size_t scheduled() const { return scheduled_.size() - next_scheduled_; }
  // Removes and returns the next scheduled connection in FIFO order; null if
  // that connection is removed or ending. Requires scheduled() > 0.
  StoreConnection* TakeScheduled();
  // Makes one send call for each connection that is scheduled for sending and
  // has no TLS, on several threads. Returns all connections that were
  // scheduled. The caller must pass each of them to Send, because it may have
  // unsent data left.
  std::vector<StoreConnection*> SendScheduled();
  // Sends as much as the kernel accepts; ends the connection on an error.
  void Send(StoreConnection& connection);

  // Marks the connection as ending and frees its buffers. Idempotent.
  void End(StoreConnection& connection);
  // Ends the connection, with a notice that names the peer and `reason`.
  void Refuse(StoreConnection& connection, std::string_view reason);
  // Refuses the connection that uses most of the buffer budget
  // (BufferBudget::FillsBefore). Called if the budget is full. O(n).
  void RefuseLargest();
  // Refuses connections that do not read their replies, until requests need not
  // wait any more. Called if BufferBudget::IsOverdue. O(n) for each refused
  // connection.
  void RefuseUnread();
  // Returns a connection that must be closed (StoreConnection::ending), or null
  // if there is none. The connection exists until Remove is called with it.
  StoreConnection* NextEnding();
  // Closes the socket of an ending connection and deletes the connection.
  void Remove(StoreConnection& connection);
  // Closes all connections.
  void Clear();

  // The error with which the upstream connection was refused or lost; OK: none.
  const absl::Status& failure() const { return failure_; }
  // Returns how the hub has ended. OK: there were clients, and all of them had
  // disconnected before the upstream connection was lost. This is the normal
  // end of a relay, because a round's store closes after its workers have
  // exited. Otherwise returns failure().
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
  // Ids of connections with new data to send. Entries before `next_scheduled_`
  // have been returned by TakeScheduled.
  std::vector<StoreClientId> scheduled_;
  size_t next_scheduled_ = 0;
};

}  // namespace muster::store

#endif  // MUSTER_STORE_SERVER_HUB_CONNECTIONS_H_
