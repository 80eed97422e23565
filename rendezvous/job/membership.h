#ifndef MUSTER_RENDEZVOUS_JOB_MEMBERSHIP_H_
#define MUSTER_RENDEZVOUS_JOB_MEMBERSHIP_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "rendezvous/job/node.h"

namespace muster::rendezvous {

// The nodes of one job with their streams and leases, and the counts on which
// gathering depends. Every look-up and change costs O(log n), unless noted.
class Membership {
 public:
  Node* Find(const std::string& node_id);
  Node* FindByStream(StreamId stream);
  Node* FindByNodeRank(int node_rank);
  // Finds a node by its id, or else the only node on the host of that name;
  // null if no node or several match. O(n).
  Node* FindByName(const std::string& name);
  // O(n).
  bool HasHost(const std::string& host) const;

  // Adds a node without a stream. Its node id and node rank must be unused.
  Node& Add(const NodeIdentity& identity, Instant now);
  // The record of an incarnation that is not a node now. kSuperseded: another
  // incarnation of its node has followed, so this one must never come back; one
  // of its messages may still be in flight, or a partitioned network may heal.
  // kReleased: must not come back either, although it may not have received its
  // release.
  enum class Memory { kNeverAdmitted, kMayReturn, kSuperseded, kReleased };
  void Remove(Node& node, Memory memory);
  Memory MemoryOf(const NodeIdentity& identity) const;
  // The highest sequence number of this incarnation's reports before it was
  // removed, or while it contended for a place; 0 if there is none. A report
  // that is not newer is stale.
  uint64_t LastSequenceOf(const NodeIdentity& identity) const;
  // Records the sequence number of an incarnation that reports but is not
  // admitted (yet).
  void Hear(const NodeIdentity& identity, uint64_t sequence);

  // Applies `change` to `node` and updates the counts. Every change that may
  // affect the result of ready() or the stream must go through here.
  template <typename Change>
  void Update(Node& node, Change change) {
    Uncount(node);
    change(node);
    Count(node);
  }
  void SetStream(Node& node, StreamId stream);
  void SetDeadline(Node& node, Instant deadline);

  // The node with the earliest deadline, null if there are no nodes.
  Node* FirstToExpire();
  std::optional<Instant> FirstDeadline() const;

  int ready() const { return ready_; }
  // The number of nodes whose checks are running and that will be ready if they
  // pass.
  int being_checked() const { return being_checked_; }
  // The ids of the nodes that are not let in because they are unhealthy.
  const std::set<std::string>& kept_out() const { return kept_out_; }
  // The number of nodes whose stream is broken and whose grace is not over.
  int broken() const { return broken_; }
  size_t size() const { return nodes_.size(); }

  // Sorted by node id.
  std::map<std::string, Node>& nodes() { return nodes_; }
  const std::map<std::string, Node>& nodes() const { return nodes_; }

 private:
  void Count(const Node& node);
  void Uncount(const Node& node);

  std::map<std::string, Node> nodes_;
  std::map<StreamId, Node*> by_stream_;
  std::map<int, Node*> by_node_rank_;
  std::set<std::pair<Instant, std::string>> deadlines_;
  using Life = std::pair<std::string, uint64_t>;  // node id, incarnation
  struct Past {
    Memory memory = Memory::kNeverAdmitted;
    uint64_t sequence = 0;
  };
  // Evicts the oldest entry of `past_` if `life`, its newest one, is too many.
  void Bound(const Life& life);

  // Incarnations that were removed, and those that reported before admission.
  std::map<Life, Past> past_;
  std::deque<Life> past_order_;  // keys of `past_`, oldest first
  uint64_t next_joined_ = 1;
  int ready_ = 0;
  int broken_ = 0;
  int being_checked_ = 0;
  std::set<std::string> kept_out_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOB_MEMBERSHIP_H_
