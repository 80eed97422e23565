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

// Maximum numbers of a coordinator's connections.
struct ConnectionLimits {
  // Connections that gRPC has not seen yet: they have sent no complete HTTP/2
  // preface, or wait for a place on trial.
  size_t waiting = 1024;
  // Connections that gRPC serves and that have made no valid call yet.
  size_t on_trial = 512;
  // Connections that have made a valid call and carry no node.
  size_t callers = 512;
  // Nodes. Not enforced by the pool but by the Attach service, which knows when
  // a node joins.
  int nodes = 1;
};

// Divides `descriptors`, the number that the coordinator's connections may use.
// Pure.
ConnectionLimits LimitsFor(int descriptors);

// Decides which of a coordinator's connections gRPC gets, and which are closed,
// so that no number of silent, slow or malformed connections keeps an agent or
// an operator out. Each connection is in one of these states:
//
//   silent    nothing valid received yet
//   spoken    sent the beginning of a session, and waits for a place on trial
//   on trial  served by gRPC, without a valid call so far
//   caller    made a valid call: with the job token or, where the coordinator
//             has none, any admin call or an accepted report
//   node      carries the stream of at least one node
//
// A connection that is not a caller after kFirstMessageTimeout is closed. If
// there are too many connections in a state, the oldest one of the network with
// the most is closed, not the newcomer refused: an honest client makes its call
// within milliseconds, so the old ones of a flood are closed and the honest one
// stays. On trial this holds for a network with more than an eighth of the
// places; connections of other networks are not closed for a newcomer before
// kFairTime, so that thousands of agents that connect at once wait for each
// other instead of closing each other. Nodes are never closed.
//
// Pure: time is an argument, which must not decrease. O(log n) per call.
class ConnectionPool {
 public:
  using Id = ConnectionCrowd::Id;

  static constexpr Duration kFirstMessageTimeout = std::chrono::seconds(10);
  static constexpr Duration kFairTime = std::chrono::seconds(1);

  explicit ConnectionPool(const ConnectionLimits& limits) : limits_(limits) {}

  // A connection was accepted. `id` must be greater than all before.
  void Opened(Instant now, Id id, const std::string& network);
  // A silent connection has sent the beginning of a session.
  void Spoke(Id id);
  // A call of the connection was valid.
  void Proved(Id id);
  // A node's stream on the connection has joined, or has ended.
  void Joined(Id id);
  void Left(Id id);
  // The connection has ended. It is forgotten.
  void Ended(Id id);

  // Changes to make. Connections to close are forgotten by the pool.
  struct Changes {
    std::vector<Id> close;
    std::vector<Id> hand_over;  // to gRPC
  };
  // Applies the limits. To be called after the other functions, and at
  // NextDeadline.
  Changes Apply(Instant now);

  // Whether a further connection may be accepted: there is a place, or a
  // connection that may be closed for it. Else accept after the next change.
  bool MayAccept() const;
  // Whether Apply would do something now, if no time passes.
  bool NeedsApply(Instant now) const;
  std::optional<Instant> NextDeadline() const;
  // Whether connections wait because there is no place on trial.
  bool IsCrowded() const { return !spoken_.empty(); }

  size_t size() const { return connections_.size(); }
  // The connections whose end the driver has to find out.
  const ConnectionCrowd& on_trial() const { return on_trial_; }
  const ConnectionCrowd& callers() const { return callers_; }

 private:
  struct Connection {
    std::string network;
    Instant opened;
    Instant since;  // when gRPC got it; before: opened
    int nodes = 0;  // joined streams
  };

  // Removes the connection from all crowds.
  void Withdraw(Id id);
  void Close(Id id, Changes* changes);
  void CloseExpired(Instant now, ConnectionCrowd* crowd, Changes* changes);
  // The connection on trial that is closed for a newcomer; nullopt: none may
  // be.
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
