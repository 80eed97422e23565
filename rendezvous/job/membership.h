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
#include "rendezvous/job/job_step.h"
#include "rendezvous/protocol/electorate.h"
#include "rendezvous/protocol/node_fault.h"
#include "rendezvous/protocol/report.h"

namespace muster::rendezvous {

// A node's part in the current round, as far as the coordinator knows.
enum class Part {
  kNone,      // not a member of the round's world
  kAssigned,  // ordered to run the round; has not reported its start yet
  kRunning,
  kSucceeded,  // all workers of the node exited with 0
  kStopped,    // no process of this round is left on the node
};

// The key of a directive: the parts that decide its revision. A directive gets
// a new revision if its key differs from the key of the node's previous
// directive. The directive's reason, a text, is not part of the key.
struct DirectiveKey {
  DirectiveKind kind = DirectiveKind::kWait;
  int round = -1;
  // The number (PairCheck::number) of the measurement that a directive with
  // this key orders; 0: the directive orders no measurement.
  uint64_t pair_check = 0;
  std::string check_fault;
  uint64_t newest_signal = 0;
  bool at_once = false;
  // Values of a stop order. causes_replaced: how often another event has become
  // the cause of the break. exit_code: the verdict's exit code. cancelled:
  // whether the verdict is that of a cancel. A new value changes the
  // DirectiveKey, so the directive gets a new revision. A node that has seen
  // this revision knows the value.
  int causes_replaced = 0;
  std::optional<int> exit_code;
  bool cancelled = false;
  bool preempted = false;
  WorldId electorate;
  bool is_spare = false;

  friend bool operator==(const DirectiveKey&, const DirectiveKey&) = default;
};

// A node of a job: the state from its agent's last report, and the last
// directive sent to it.
struct Node {
  NodeIdentity identity;
  std::string place_key;  // the agent's secret; see Report::place_key
  std::string peer;       // IP address of the agent's last stream
  uint64_t joined = 0;    // number of the node in order of arrival
  uint64_t sequence = 0;
  // The newest revision of this coordinator's directives that the node has
  // seen.
  uint64_t seen = 0;
  NodePhase phase = NodePhase::kIdle;
  int round = 0;
  int offered_master_port = 0;
  std::string offered_nccl_id;
  std::vector<std::string> addresses;  // IP addresses of the node
  // HOST:PORT of the standby in the node's process; empty: none.
  std::string standby_endpoint;
  // The result of HandoverFor for the directive that was last sent to the node.
  uint64_t told_handover = 0;
  // The node's group rank in JobState::electors; -1: the node is no elector.
  int elector_rank = -1;
  // Whether the node may be a spare (Electorate::is_spare). An elector is none.
  bool is_spare = false;
  // The newest NCCL id of the node that must not be used again, because a world
  // used it or may have used it: under an earlier coordinator, or under this
  // one before the node was lost.
  std::string spent_nccl_id;
  // Ordinal of the newest signal from the node's agent (SignalNotice) that the
  // job has handled.
  uint64_t newest_signal = 0;
  // Number of the worker failures of `round` that the job has handled.
  int failures_taken = 0;
  // How far the node's workers have come in the node's newest round
  // (Report::progress); shown in the job's status.
  std::vector<WorkerProgress> progress;
  // The workers' times inside and outside of collectives, from the node's
  // newest report (Report::times).
  std::vector<RankTimes> times;
  // How the node has spent its time, by its newest report (Report::time).
  NodeTime time;
  Health health = Health::kHealthy;
  std::string unhealthy;
  // Whether and why the coordinator suspects, quarantines or bans the node's
  // machine.
  HostJudgement judgement;
  // Ordinal of the newest of the node's reported faults (NodeFault) that the
  // job has handled.
  uint64_t newest_fault = 0;
  // The port at which the node takes part in measurements between pairs of
  // nodes (newest Report::check_port).
  int check_port = 0;
  // The maximum number of the node's GPUs that take part in a measurement
  // between a pair of nodes (newest Report::check_gpus).
  int check_gpus = 0;
  // Why the check by pairs found the node bad; empty: it has not found the node
  // bad. fault_is_waived: the node may get a place although the check found it
  // bad, because too few other nodes can get one.
  std::string check_fault;
  bool fault_is_waived = false;
  bool going = false;  // whether the node leaves: drained, or at its own wish
  std::string going_why;

  StreamId stream = 0;  // the agent's stream; 0: not connected
  // time at which the stream broke; valid if `stream` is 0
  Instant broken_since;
  Instant heard;
  Instant deadline;  // the node is lost unless it reports by then
  // Whether Job::ForgiveSilence has postponed `deadline`, because the
  // coordinator's process was suspended.
  bool forgiven = false;
  // Whether the node comes from a JobRecord and has not reported since.
  bool is_restored = false;
  // Whether the agent had received no directive when it joined: it has just
  // been started, and knows no round of the job.
  bool is_fresh = false;

  // The stream of another agent that claims this place; 0: none. Once this node
  // proves to be alive, the claimant is refused or, with
  // Report::waits_for_place, keeps waiting. After this node has ended or its
  // lease has expired, the claimant is admitted at its next report.
  StreamId contender = 0;
  // The revision of the directive that was sent to this node when another agent
  // (`contender`) first claimed the node's place. Only a report that names this
  // revision as seen proves that the node is alive. An older report proves
  // nothing: the agent may have died after sending it.
  uint64_t proof_of_life = 0;
  // Whether the node has proved that it is alive since `contender` claimed the
  // place.
  bool proved_alive = false;
  uint64_t contender_incarnation = 0;
  // Time at which the agent with `contender_incarnation` first claimed the
  // place.
  Instant contended_since;

  // The revision of a directive (Directive::revision) that the node must have
  // seen before it gets a place. If a node was lost and has returned, an older
  // kRun directive may still be on its way to the node. Until the node has seen
  // this revision, a report of phase kIdle does not prove that the node stays
  // idle.
  uint64_t must_have_seen = 0;

  Part part = Part::kNone;
  int group_rank = -1;

  DirectiveKey told;
  // revision of the newest directive to this node; 0: no directive was sent yet
  uint64_t revision = 0;
  // The value that the counter Outbox::wording_ had when the node was last sent
  // a directive. Outbox::Reword increases the counter whenever the text for
  // waiting nodes changes.
  uint64_t wording = 0;

  // Whether the node can get a place in a world now.
  bool ready() const;
  // Whether running health checks will soon make the node ready or unhealthy.
  bool being_checked() const;
  // Whether the node gets no place only because it has not confirmed the
  // directive with the revision `must_have_seen` yet.
  bool unanswered() const;
  // Whether the node gets no place only because of one or more of these: a
  // failed health check, a ban of its machine, a bad result of the check by
  // pairs.
  bool kept_out() const;
  // Whether only a bad result of the check by pairs keeps the node out.
  bool kept_out_by_check() const;
  // Whether the node is ready but its machine is quarantined, so that it gets
  // no place as long as other nodes suffice.
  bool quarantined() const;
  // Whether the node could be checked by pairs now.
  bool checkable() const;
  // Why the node is unhealthy, or why the check by pairs found it bad; "":
  // neither.
  const std::string& complaint() const {
    return health == Health::kUnhealthy ? unhealthy : check_fault;
  }

 private:
  // Whether the node is connected, is not leaving the job, and has no processes
  // of a round, as far as its reports show.
  bool unoccupied() const;
  // Whether the node could get a place if its health were good and its machine
  // were not banned.
  bool present() const;
};

// An incarnation that was removed from the job, or that is not admitted yet.
struct PastNode;

// The nodes of one job with their streams and leases, and the counts on which
// gathering depends. Every look-up and change costs O(log n), unless noted.
class Membership {
 public:
  Node* Find(const std::string& node_id);
  const Node* Find(const std::string& node_id) const;
  Node* FindByStream(StreamId stream);
  const Node* FindByStream(StreamId stream) const;
  Node* FindByNodeRank(int node_rank);
  // Finds a node by its id, or else the only node on the host with that name;
  // null if no node or several nodes match. O(n).
  Node* FindByName(const std::string& name);
  // Whether any node runs on `host`. O(n).
  bool HasHost(const std::string& host) const;

  // Adds a node without a stream. Its node id and node rank must be unused.
  Node& Add(const NodeIdentity& identity, Instant now);
  // The status of an incarnation that is not a node of the job now.
  // kSuperseded: another incarnation has replaced it. It must never return,
  // even if its messages arrive late. kReleased: the incarnation was drained or
  // left by itself. It must not return, even if the directive to leave has not
  // reached it.
  enum class Memory { kNeverAdmitted, kMayReturn, kSuperseded, kReleased };
  void Remove(Node& node, Memory memory);
  Memory MemoryOf(const NodeIdentity& identity) const;
  // The place key of this incarnation when it was removed: the agent's secret
  // that proves that it held its place. "" if it had no key or was never
  // admitted.
  std::string PlaceKeyOf(const NodeIdentity& identity) const;
  // How the agent with this incarnation had spent its time, by the agent's last
  // report before its node was removed.
  NodeTime TimeOf(const NodeIdentity& identity) const;
  // The highest sequence number in the reports that this incarnation of an
  // agent sent before its node was removed (Remove), or since then (Hear); 0:
  // none is known. A report without a higher number is stale.
  uint64_t LastSequenceOf(const NodeIdentity& identity) const;
  // The ids of the nodes that were lost and have not returned since. O(n log n)
  // for n past incarnations.
  std::set<std::string> LostNodes() const;
  // Records the sequence number of a report from an incarnation that is not a
  // node of the job.
  void Hear(const NodeIdentity& identity, uint64_t sequence);

  // All past incarnations that are still remembered, oldest first. O(n).
  std::vector<PastNode> PastNodes() const;
  // Restores the result of PastNodes; keeps at most kMaxPast of them. O(n log
  // n).
  void Remember(const std::vector<PastNode>& past);

  // Applies `change` to `node` and updates the counts. Every change that may
  // affect ready() or the stream must go through this function.
  template <typename Change>
  void Update(Node& node, Change change) {
    Uncount(node);
    change(node);
    Count(node);
  }
  void SetStream(Node& node, StreamId stream);
  void SetDeadline(Node& node, Instant deadline);

  // The node with the earliest deadline (Node::deadline: the node is lost
  // unless it reports by then); null if there are no nodes.
  Node* FirstToExpire();
  std::optional<Instant> FirstDeadline() const;

  int ready() const { return ready_; }
  // The number of electors (Node::elector_rank), of those that are ready, and
  // of those that are connected.
  int electors() const { return electors_; }
  int ready_electors() const { return ready_electors_; }
  int connected_electors() const { return connected_electors_; }
  // The number of nodes that are no spares (Node::is_spare).
  int regular() const { return regular_; }
  // The number of nodes whose running health checks alone decide whether they
  // become ready.
  int being_checked() const { return being_checked_; }
  // The number of nodes that get no place only because they have not answered
  // yet (Node::unanswered).
  int unanswered() const { return unanswered_; }
  // The ids of the nodes that are kept out by a failed health check, a ban or
  // the check by pairs (Node::kept_out).
  const std::set<std::string>& kept_out() const { return kept_out_; }
  // The ids of the nodes that are ready, but quarantined.
  const std::set<std::string>& quarantined() const { return quarantined_; }
  // The ids of the nodes that are ready although the check by pairs found them
  // bad (Node::fault_is_waived).
  const std::set<std::string>& waived() const { return waived_; }
  // The number of nodes whose stream is broken and whose reconnect grace is not
  // over.
  int broken() const { return broken_; }
  size_t size() const { return nodes_.size(); }

  // All nodes by node id.
  std::map<std::string, Node>& nodes() { return nodes_; }
  const std::map<std::string, Node>& nodes() const { return nodes_; }

 private:
  void Count(const Node& node);
  void Uncount(const Node& node);

  std::map<std::string, Node> nodes_;
  std::map<StreamId, Node*> by_stream_;
  std::map<int, Node*> by_node_rank_;
  std::set<std::pair<Instant, std::string>> deadlines_;
  // node id and incarnation of an agent
  using Life = std::pair<std::string, uint64_t>;
  struct Past {
    Memory memory = Memory::kNeverAdmitted;
    uint64_t sequence = 0;
    std::string place_key;
    NodeTime time;
  };
  // Keeps the number of entries of `past_` at most kMaxPast: adds `life`, the
  // newest entry, to the end of `past_order_`, and removes the oldest entry if
  // there are too many.
  void Bound(const Life& life);

  // Incarnations that were removed, or that reported but are not admitted yet.
  std::map<Life, Past> past_;
  // The order in which incarnations were added to `past_`, oldest first.
  std::deque<Life> past_order_;
  uint64_t next_joined_ = 1;
  int ready_ = 0;
  int electors_ = 0;
  int ready_electors_ = 0;
  int connected_electors_ = 0;
  int regular_ = 0;
  int broken_ = 0;
  int being_checked_ = 0;
  int unanswered_ = 0;
  std::set<std::string> kept_out_;
  std::set<std::string> quarantined_;
  std::set<std::string> waived_;
};

struct PastNode {
  std::string node_id;
  uint64_t incarnation = 0;
  Membership::Memory memory = Membership::Memory::kNeverAdmitted;
  uint64_t sequence = 0;  // highest Report::sequence of this incarnation
  std::string place_key;  // Report::place_key, the agent's secret; "": none
  NodeTime time;          // how the node spent its time (newest report)
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOB_MEMBERSHIP_H_
