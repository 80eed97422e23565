#ifndef MUSTER_RENDEZVOUS_SERVER_CONNECTION_POOL_H_
#define MUSTER_RENDEZVOUS_SERVER_CONNECTION_POOL_H_

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/net/connection_crowd.h"
#include "base/time.h"

namespace muster::rendezvous {

// Maximum number of a coordinator's connections in each state.
struct ConnectionLimits {
  // Connections that are not handed over to gRPC yet: either the client has not
  // sent the beginning of a session (HTTP/2 preface or TLS handshake), or the
  // limit `on_trial` is reached.
  size_t waiting = 1024;
  // Connections on trial: gRPC serves them, but they have not made a valid call
  // yet.
  size_t on_trial = 512;
  // Connections that have made a valid call and carry no node's stream.
  size_t callers = 512;
  // Maximum number of nodes that are attached to the coordinator. The pool does
  // not use this limit. The Attach service enforces it.
  int nodes = 1;
};

// Returns the limits for a coordinator whose connections may use `descriptors`
// file descriptors. Pure.
ConnectionLimits LimitsFor(int descriptors);

// Decides which of a coordinator's connections are handed over to gRPC, and
// which are closed, so that no number of silent, slow or malformed connections
// prevents an agent or an operator from connecting. Each connection is in one
// of these states:
//
//   silent    has sent nothing valid yet
//   spoken    has sent the beginning of a session, and waits until fewer
//             connections are on trial
//   on trial  served by gRPC, without a valid call so far
//   caller    has made a valid call: with the job token or, if the coordinator
//             has no token, any admin call or an accepted report
//   node      carries the stream of at least one node
//
// If a connection is not a caller after kFirstMessageTimeout, it is closed. If
// there are too many connections in a state, the pool does not refuse the new
// one. It closes the oldest connection of the network that has the most
// connections in this state. An honest client makes its call within
// milliseconds, so it is not among the oldest connections when a flood arrives.
//
// For connections on trial there is one exception. If no network has more than
// an eighth of ConnectionLimits::on_trial, a connection is closed only after it
// has been on trial for kFairTime. So if thousands of agents connect at once,
// they wait for each other and do not close each other. Connections of nodes
// are never closed.
//
// Pure: time is an argument, which must not decrease. O(log n) per call.
class ConnectionPool {
 public:
  using Id = ConnectionCrowd::Id;

  static constexpr Duration kFirstMessageTimeout = std::chrono::seconds(10);
  static constexpr Duration kFairTime = std::chrono::seconds(1);

  explicit ConnectionPool(const ConnectionLimits& limits) : limits_(limits) {}

  // Records an accepted connection. `id` must be greater than all earlier ids.
  // `network`: the network of the client (NetworkOf).
  void Opened(Instant now, Id id, const std::string& network);
  // Records that a client, silent so far, has sent its first bytes: the
  // beginning of HTTP/2 or of a TLS handshake.
  void Spoke(Id id);
  // Records that a call on the connection was valid.
  void Proved(Id id);
  // Joined records that a node's stream on the connection has joined a job.
  // Left records that the stream has ended.
  void Joined(Id id);
  void Left(Id id);
  // Removes from the pool a connection that has ended.
  void Ended(Id id);

  // The actions that the caller must carry out. The pool has already removed
  // the connections in `close`.
  struct Changes {
    std::vector<Id> close;
    std::vector<Id> hand_over;  // connections to hand over to gRPC
  };
  // Applies the ConnectionLimits, and returns what the caller must do. Must be
  // called after each call of Opened, Spoke, Proved, Joined, Left or Ended, and
  // at NextDeadline.
  Changes Apply(Instant now);

  // Whether another connection may be accepted: the limits have room for it, or
  // a connection may be closed to make room. If false, the caller should ask
  // again after the next change.
  bool MayAccept() const;
  // Whether Apply, called at the time `now`, would close a connection or hand
  // one over.
  bool NeedsApply(Instant now) const;
  std::optional<Instant> NextDeadline() const;
  // Whether connections wait for the hand-over, because gRPC already serves
  // ConnectionLimits::on_trial connections without a valid call.
  bool IsCrowded() const { return !spoken_.empty(); }

  size_t size() const { return connections_.size(); }
  // The connections that gRPC serves and that have made no valid call yet. gRPC
  // does not report that it has closed a connection. So the caller of this pool
  // must check whether the connections are still open, and call Ended for those
  // that are not.
  const ConnectionCrowd& on_trial() const { return on_trial_; }
  const ConnectionCrowd& callers() const { return callers_; }

 private:
  struct Connection {
    std::string network;
    Instant opened;
    // The time at which gRPC got the connection; until then, the time at which
    // the connection was opened.
    Instant since;
    int nodes = 0;  // number of streams that have joined a job
  };

  // Each state of a connection has a list. Removes the connection from its
  // list.
  void Withdraw(Id id);
  void Close(Id id, Changes* changes);
  void CloseExpired(Instant now, ConnectionCrowd* crowd, Changes* changes);
  // Returns the connection that must be closed to make room for another one,
  // among those that gRPC serves and that have made no valid call yet. nullopt:
  // none may be closed.
  std::optional<Id> TrialToClose(Instant now) const;

  const ConnectionLimits limits_;
  std::map<Id, Connection> connections_;
  ConnectionCrowd silent_;
  ConnectionCrowd spoken_;
  ConnectionCrowd on_trial_;
  ConnectionCrowd callers_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_SERVER_CONNECTION_POOL_H_
