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

namespace muster {

// The nodes of one job with their streams and leases, and the counts that
// decide a gathering. Every look-up and change costs O(log n).
class Membership {
 public:
  Node* Find(const std::string& node_id);
  Node* FindByStream(StreamId stream);
  Node* FindByNodeRank(int node_rank);
  // By node id, else the only one on this host.
  Node* FindByName(const std::string& name);
  // O(n).
  bool HasHost(const std::string& host) const;

  // A new node, without a stream. Its id and node rank must be free.
  Node& Add(const NodeIdentity& identity, Instant now);
  // What is remembered of a node that is gone. One that another incarnation
  // has followed, now or later, must never come back (a message of it may
  // still be under way, or a cut network may heal); nor one that was released,
  // which may not have heard of it.
  enum class Memory { kMayReturn, kSuperseded, kReleased };
  void Remove(Node& node, Memory memory);
  // kMayReturn for one that was never here.
  Memory MemoryOf(const NodeIdentity& identity) const;
  // The highest number of a report that was taken from this incarnation while
  // it was here: one that is not newer was only late.
  uint64_t LastSequenceOf(const NodeIdentity& identity) const;
  // One that was here reports, but is not let in (yet).
  void Hear(const NodeIdentity& identity, uint64_t sequence);

  // Every change of a node that may change its ready() or its stream goes
  // through here, which keeps the counts.
  template <typename Change>
  void Update(Node& node, Change change) {
    Uncount(node);
    change(node);
    Count(node);
  }
  void SetStream(Node& node, StreamId stream);
  void SetDeadline(Node& node, Instant deadline);

  // The node whose deadline comes first.
  Node* FirstToExpire();
  std::optional<Instant> FirstDeadline() const;

  int ready() const { return ready_; }
  // Nodes whose checks have not ended yet, and would be ready if they passed.
  int being_checked() const { return being_checked_; }
  // Those that are kept out because they are unfit, by id.
  const std::set<std::string>& kept_out() const { return kept_out_; }
  // Nodes whose stream is broken but whose grace is not over.
  int broken() const { return broken_; }
  size_t size() const { return nodes_.size(); }

  // In order of their ids.
  std::map<std::string, Node>& nodes() { return nodes_; }
  const std::map<std::string, Node>& nodes() const { return nodes_; }

 private:
  void Count(const Node& node);
  void Uncount(const Node& node);

  std::map<std::string, Node> nodes_;
  std::map<StreamId, Node*> by_stream_;
  std::map<int, Node*> by_node_rank_;
  std::set<std::pair<Instant, std::string>> deadlines_;
  // The last few thousand (node id, incarnation) that went, oldest first in
  // `departures_`.
  using Life = std::pair<std::string, uint64_t>;
  struct Departure {
    Memory memory = Memory::kMayReturn;
    uint64_t sequence = 0;
  };
  std::map<Life, Departure> departed_;
  std::deque<Life> departures_;
  uint64_t next_joined_ = 1;
  int ready_ = 0;
  int broken_ = 0;
  int being_checked_ = 0;
  std::set<std::string> kept_out_;
};

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_JOB_MEMBERSHIP_H_
