#ifndef MUSTER_RENDEZVOUS_JOB_DIRECTIVES_H_
#define MUSTER_RENDEZVOUS_JOB_DIRECTIVES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rendezvous/job/job_state.h"
#include "rendezvous/job/job_step.h"
#include "rendezvous/protocol/directive.h"
#include "rendezvous/protocol/job_status.h"

namespace muster::rendezvous {

// Returns the key of the directive that `node` should have now: its kind, its
// round and its other fields whose change needs a new revision. O(1).
DirectiveKey KeyFor(const JobState& state, const Node& node);
// Returns 1 + Handover::number if the node's directive contains
// JobState::handover; else 0. A change of the handover does not change the
// revision, which tells the orders that a node has seen. O(1).
uint64_t HandoverFor(const JobState& state, const Node& node);
// Returns the whole directive whose key KeyFor returns, with its reason as text
// and the node's revision. O(log n); O(n) for the kRun directive to group rank
// 0.
Directive DirectiveFor(const JobState& state, const Node& node);
// Returns the job's state at `now`, for operators. Lists the members by group
// rank, then the other nodes by id. O(n log n).
JobStatus StatusOf(const JobState& state, Instant now);
// Returns StatusOf without the nodes. O(1) in the number of nodes while the job
// runs.
JobStatus SummaryOf(const JobState& state, Instant now);

// A node of the job and its ranks in the current world. In
// JobPhase::kGathering: its ranks in the previous world.
struct NodeSeat {
  std::string node_id;
  std::string host;
  StreamId stream = 0;  // 0: the node is not connected
  int first_rank = -1;  // rank of the node's first worker; -1: no ranks
  int slots = 0;
};
// Returns the members of the world, and then the other nodes. O(n log n).
std::vector<NodeSeat> SeatsOf(const JobState& state);

// Collects the directives and decisions of one step (the handling of one event)
// of a job, and gives each directive its revision number. Reads the job's
// state. Not thread-safe.
class Outbox {
 public:
  // `state` must outlive this object.
  explicit Outbox(const JobState* state) : state_(*state) {}

  // Begins the job's next step, which has no directives and decisions yet. If
  // the step handles the report of a node, call Await next.
  void Begin();
  // Returns the directives and decisions of the step.
  JobStep Take() { return std::move(step_); }

  // Appends a decision to the step. `failure`: see Decision::failure.
  void Note(std::string kind, const std::string& node_id, std::string reason,
            std::optional<Failure> failure = std::nullopt);
  // Counts a fault against a machine: adds it to the step's JobStep::faults.
  void Count(HostFault fault) { step_.faults.push_back(std::move(fault)); }
  bool HasFaults() const { return !step_.faults.empty(); }
  // Ends this coordinator's role in the job: sets JobStep::deposed.
  void Depose(std::string reason) {
    Note("deposed", "", std::move(reason));
    step_.deposed = true;
  }
  bool deposed() const { return step_.deposed; }
  // Refuses the operator's request (cancel, drain) of this step.
  void RefuseRequest(std::string reason) { step_.refusal = std::move(reason); }

  // Sends `node` its current directive. If the node is disconnected, sends it
  // when the node reconnects. The directive gets a new revision if its key
  // (DirectiveKey) differs from that of the node's last directive.
  void Tell(Node& node);
  // Sends a directive to an agent that is not a node of the job.
  void TellStream(StreamId stream, DirectiveKind kind, std::string reason);
  // Sends the verdict to an agent that is not a node of the job. `node_id`: the
  // id of the agent's node, or of the node whose place the agent waits for.
  // `host`: the agent's host.
  void TellFinished(StreamId stream, const std::string& node_id,
                    const std::string& host);
  void Refuse(StreamId stream, const Objection& objection);

  // Records that the text that tells waiting nodes why they wait has changed.
  // Each waiting node gets the new text in the answer to its next report.
  void Reword() { ++wording_; }
  // The highest revision of the directives to all nodes so far.
  uint64_t revision() const { return revision_; }
  // Sends `node` its unchanged directive with a new revision. Returns the
  // revision.
  uint64_t Renew(Node& node);

  // Records that this step handles a report of `node`, so that Unanswered can
  // tell whether the report needs an answer. `seen_revision`: the revision of
  // the newest directive that the node has received on its stream; 0: none.
  void Await(const Node& node, uint64_t seen_revision);
  // Returns the id of the node whose report this step handles, if the report
  // still needs an answer. The report needs an answer in four cases:
  // - The stream is new.
  // - The node has not seen its newest directive.
  // - The node waits and knows only an outdated reason for this.
  // - The node is a standby, and JobState::handover has changed.
  // Call this only at the end of the step: earlier, the last node to join would
  // be answered with kWait just before it gets kRun.
  std::optional<std::string> Unanswered() const;

 private:
  struct Question {
    std::string node_id;
    uint64_t seen_revision = 0;
    // whether this step has sent the node a directive
    bool answered = false;
  };

  const JobState& state_;
  JobStep step_;
  uint64_t revision_ = 0;
  uint64_t wording_ = 1;
  // The report that the current step handles; nullopt: the step handles none.
  std::optional<Question> question_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOB_DIRECTIVES_H_
