#ifndef MUSTER_RENDEZVOUS_JOB_DIRECTIVES_H_
#define MUSTER_RENDEZVOUS_JOB_DIRECTIVES_H_

#include <cstdint>
#include <optional>
#include <string>

#include "rendezvous/job/job_state.h"
#include "rendezvous/job/job_step.h"
#include "rendezvous/protocol/directive.h"
#include "rendezvous/protocol/job_status.h"

namespace muster::rendezvous {

// The directive that `node` should have, without its texts. O(1).
DirectiveKey KeyFor(const JobState& state, const Node& node);
// The directive of KeyFor with its texts and the node's revision. O(log n), but
// O(n) for a kRun of group rank 0.
Directive DirectiveFor(const JobState& state, const Node& node);
// The job's state for operators at `now`. O(n log n). Nodes: members by group
// rank, then the others by id.
JobStatus StatusOf(const JobState& state, Instant now);
// The same without the nodes; O(1) in their number while the job runs.
JobStatus SummaryOf(const JobState& state, Instant now);

// Collects the directives and decisions of one step of a job, and gives each
// directive its revision. Reads the job's state. Not thread-safe.
class Outbox {
 public:
  // `state` must outlive this object.
  explicit Outbox(const JobState* state) : state_(*state) {}

  // Starts a step. No report is waiting for an answer yet.
  void Begin();
  // Returns what the step has sent and decided.
  JobStep Take() { return std::move(step_); }

  // Appends a decision.
  void Note(std::string kind, const std::string& node_id, std::string reason);
  // Ends this coordinator's part in the job: JobStep::deposed.
  void Depose(std::string reason) {
    Note("deposed", "", std::move(reason));
    step_.deposed = true;
  }
  bool deposed() const { return step_.deposed; }
  // Refuses the operator's request (cancel, drain) of this step.
  void RefuseRequest(std::string reason) { step_.refusal = std::move(reason); }

  // Sends `node` its directive. A disconnected node gets the directive when it
  // reconnects. The revision increases if the key differs from that of the last
  // directive.
  void Tell(Node& node);
  // Sends a directive to an agent that is not a node of the job.
  void TellStream(StreamId stream, DirectiveKind kind, std::string reason);
  void Refuse(StreamId stream, const Objection& objection);

  // Notes that the text for waiting nodes has changed. Each waiting node gets
  // the new text in the answer to its next report.
  void Reword() { ++wording_; }
  // The revision of the newest directive.
  uint64_t revision() const { return revision_; }
  // Sends `node` its unchanged directive with a new revision; returns the
  // revision.
  uint64_t Renew(Node& node);

  // Notes that this step handles a report of `node`. `seen_revision`: the
  // newest directive that the node has seen on this stream; 0: none.
  void Await(const Node& node, uint64_t seen_revision);
  // The id of the node that this step's report came from, if that report needs
  // an answer: its stream is new, the node has not seen its newest directive,
  // or its reason to wait has an old text. Must be called at the end of the
  // step, so that the last node to join is not told to wait first. All other
  // directives are sent when they change.
  std::optional<std::string> Unanswered() const;

 private:
  struct Question {
    std::string node_id;
    uint64_t seen_revision = 0;
    bool answered = false;  // a directive was sent to the node in this step
  };

  const JobState& state_;
  JobStep step_;
  uint64_t revision_ = 0;
  uint64_t wording_ = 1;
  std::optional<Question> question_;  // set only during the step of a report
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOB_DIRECTIVES_H_
