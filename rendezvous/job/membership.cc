#include "rendezvous/job/membership.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "base/check.h"

namespace muster::rendezvous {
namespace {

// Maximum number of past incarnations that are remembered, so that late
// messages from them are recognised. The maximum limits the memory; far fewer
// messages than this are in flight at any time.
constexpr size_t kMaxPast = 4096;

}  // namespace

bool Node::ready() const {
  return present() && health == Health::kHealthy &&
         judgement.state != HostState::kBanned && !kept_out_by_check();
}

bool Node::being_checked() const {
  return present() && health == Health::kUnchecked &&
         judgement.state != HostState::kBanned;
}

bool Node::kept_out() const {
  return present() &&
         (health == Health::kUnhealthy ||
          judgement.state == HostState::kBanned || kept_out_by_check());
}

bool Node::kept_out_by_check() const {
  return present() && health == Health::kHealthy &&
         judgement.state != HostState::kBanned && !check_fault.empty() &&
         !fault_is_waived;
}

bool Node::quarantined() const {
  return ready() && judgement.state == HostState::kQuarantined;
}

bool Node::checkable() const {
  return present() && health == Health::kHealthy &&
         judgement.state != HostState::kBanned && check_port > 0 &&
         !identity.address.empty();
}

bool Node::unanswered() const { return unoccupied() && seen < must_have_seen; }

bool Node::unoccupied() const {
  return stream != 0 && !going && part == Part::kNone &&
         (phase == NodePhase::kIdle || phase == NodePhase::kSucceeded);
}

bool Node::present() const { return unoccupied() && seen >= must_have_seen; }

Node* Membership::Find(const std::string& node_id) {
  auto found = nodes_.find(node_id);
  return found == nodes_.end() ? nullptr : &found->second;
}

const Node* Membership::Find(const std::string& node_id) const {
  auto found = nodes_.find(node_id);
  return found == nodes_.end() ? nullptr : &found->second;
}

Node* Membership::FindByStream(StreamId stream) {
  auto found = by_stream_.find(stream);
  return found == by_stream_.end() ? nullptr : found->second;
}

const Node* Membership::FindByStream(StreamId stream) const {
  auto found = by_stream_.find(stream);
  return found == by_stream_.end() ? nullptr : found->second;
}

Node* Membership::FindByNodeRank(int node_rank) {
  auto found = by_node_rank_.find(node_rank);
  return found == by_node_rank_.end() ? nullptr : found->second;
}

Node* Membership::FindByName(const std::string& name) {
  if (Node* node = Find(name); node != nullptr) return node;
  Node* only = nullptr;
  for (auto& [id, node] : nodes_) {
    if (node.identity.host != name) continue;
    if (only != nullptr) return nullptr;
    only = &node;
  }
  return only;
}

bool Membership::HasHost(const std::string& host) const {
  return std::any_of(nodes_.begin(), nodes_.end(), [&](const auto& entry) {
    return entry.second.identity.host == host;
  });
}

Node& Membership::Add(const NodeIdentity& identity, Instant now) {
  auto [place, added] = nodes_.try_emplace(identity.node_id);
  MUSTER_CHECK(added) << identity.node_id << " is there already";
  for (auto life = past_.lower_bound({identity.node_id, 0});
       life != past_.end() && life->first.first == identity.node_id; ++life) {
    // The incarnation `identity` gets the place, so the node's other
    // incarnations must not return. Incarnations that were never admitted are
    // exempt: they may still get the place.
    if (life->first.second != identity.incarnation &&
        life->second.memory != Memory::kNeverAdmitted) {
      life->second.memory = Memory::kSuperseded;
    }
  }
  Node& node = place->second;
  node.identity = identity;
  node.joined = next_joined_++;
  node.heard = now;
  node.deadline = now;
  if (identity.node_rank.has_value()) {
    by_node_rank_[*identity.node_rank] = &node;
  }
  deadlines_.emplace(now, identity.node_id);
  Count(node);
  return node;
}

void Membership::Remove(Node& node, Memory memory) {
  Uncount(node);
  const std::string id = node.identity.node_id;
  const Life life(id, node.identity.incarnation);
  const bool is_new =
      past_
          .insert_or_assign(
              life, Past{memory, node.sequence, node.place_key, node.time})
          .second;
  if (is_new) Bound(life);
  if (node.stream != 0) by_stream_.erase(node.stream);
  if (node.identity.node_rank.has_value()) {
    by_node_rank_.erase(*node.identity.node_rank);
  }
  deadlines_.erase({node.deadline, id});
  nodes_.erase(id);
}

Membership::Memory Membership::MemoryOf(const NodeIdentity& identity) const {
  auto found = past_.find({identity.node_id, identity.incarnation});
  return found == past_.end() ? Memory::kNeverAdmitted : found->second.memory;
}

std::string Membership::PlaceKeyOf(const NodeIdentity& identity) const {
  auto found = past_.find({identity.node_id, identity.incarnation});
  return found == past_.end() ? "" : found->second.place_key;
}

NodeTime Membership::TimeOf(const NodeIdentity& identity) const {
  auto found = past_.find({identity.node_id, identity.incarnation});
  return found == past_.end() ? NodeTime() : found->second.time;
}

uint64_t Membership::LastSequenceOf(const NodeIdentity& identity) const {
  auto found = past_.find({identity.node_id, identity.incarnation});
  return found == past_.end() ? 0 : found->second.sequence;
}

std::set<std::string> Membership::LostNodes() const {
  std::set<std::string> ids;
  for (const auto& [life, past] : past_) {
    const std::string& id = life.first;
    if (past.memory == Memory::kMayReturn && !nodes_.contains(id)) {
      ids.insert(id);
    }
  }
  return ids;
}

void Membership::Hear(const NodeIdentity& identity, uint64_t sequence) {
  const Life life(identity.node_id, identity.incarnation);
  const auto [found, is_new] = past_.try_emplace(life);
  found->second.sequence = sequence;
  if (is_new) Bound(life);
}

std::vector<PastNode> Membership::PastNodes() const {
  std::vector<PastNode> all;
  for (const Life& life : past_order_) {
    const Past& past = past_.at(life);
    all.push_back({.node_id = life.first,
                   .incarnation = life.second,
                   .memory = past.memory,
                   .sequence = past.sequence,
                   .place_key = past.place_key,
                   .time = past.time});
  }
  return all;
}

void Membership::Remember(const std::vector<PastNode>& past) {
  for (const PastNode& one : past) {
    const Life life(one.node_id, one.incarnation);
    const bool is_new =
        past_
            .insert_or_assign(
                life, Past{one.memory, one.sequence, one.place_key, one.time})
            .second;
    if (is_new) Bound(life);
  }
}

void Membership::Bound(const Life& life) {
  past_order_.push_back(life);
  if (past_order_.size() <= kMaxPast) return;
  past_.erase(past_order_.front());
  past_order_.pop_front();
}

void Membership::SetStream(Node& node, StreamId stream) {
  if (node.stream == stream) return;
  Update(node, [&](Node& n) {
    if (n.stream != 0) by_stream_.erase(n.stream);
    n.stream = stream;
    if (stream != 0) by_stream_[stream] = &n;
  });
}

void Membership::SetDeadline(Node& node, Instant deadline) {
  deadlines_.erase({node.deadline, node.identity.node_id});
  node.deadline = deadline;
  deadlines_.emplace(deadline, node.identity.node_id);
}

Node* Membership::FirstToExpire() {
  return deadlines_.empty() ? nullptr : Find(deadlines_.begin()->second);
}

std::optional<Instant> Membership::FirstDeadline() const {
  if (deadlines_.empty()) return std::nullopt;
  return deadlines_.begin()->first;
}

void Membership::Count(const Node& node) {
  const bool is_elector = node.elector_rank >= 0;
  ready_ += node.ready() ? 1 : 0;
  electors_ += is_elector ? 1 : 0;
  ready_electors_ += is_elector && node.ready() ? 1 : 0;
  connected_electors_ += is_elector && node.stream != 0 ? 1 : 0;
  regular_ += node.is_spare ? 0 : 1;
  broken_ += node.stream == 0 ? 1 : 0;
  being_checked_ += node.being_checked() ? 1 : 0;
  unanswered_ += node.unanswered() ? 1 : 0;
  if (node.kept_out()) kept_out_.insert(node.identity.node_id);
  if (node.quarantined()) quarantined_.insert(node.identity.node_id);
  if (node.ready() && node.fault_is_waived) {
    waived_.insert(node.identity.node_id);
  }
}

void Membership::Uncount(const Node& node) {
  const bool is_elector = node.elector_rank >= 0;
  ready_ -= node.ready() ? 1 : 0;
  electors_ -= is_elector ? 1 : 0;
  ready_electors_ -= is_elector && node.ready() ? 1 : 0;
  connected_electors_ -= is_elector && node.stream != 0 ? 1 : 0;
  regular_ -= node.is_spare ? 0 : 1;
  broken_ -= node.stream == 0 ? 1 : 0;
  being_checked_ -= node.being_checked() ? 1 : 0;
  unanswered_ -= node.unanswered() ? 1 : 0;
  kept_out_.erase(node.identity.node_id);
  quarantined_.erase(node.identity.node_id);
  waived_.erase(node.identity.node_id);
}

}  // namespace muster::rendezvous
