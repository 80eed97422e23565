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
// The directive of that key with its texts. The revision is `node`'s. O(log n).
Directive DirectiveFor(const JobState& state, const Node& node);
// The job's state for operators at `now`. O(n log n). Nodes: members by group
// rank, then the others by id.
JobStatus StatusOf(const JobState& state, Instant now);

// What a step of a job sends and decides: gives revisions to directives and
// collects them. Reads the job's state. Not thread-safe.
class Outbox {
 public:
  // `state` must outlive this object.
  explicit Outbox(const JobState* state) : state_(*state) {}

  // Starts a step without an unanswered report.
  void Begin();
  // Returns what the step has sent and decided.
  JobStep Take() { return std::move(step_); }

  // Appends a decision.
  void Note(std::string kind, const std::string& node_id, std::string reason);
  // A request of an operator (cancel, drain) was not possible.
  void RefuseRequest(std::string reason) { step_.refusal = std::move(reason); }

  // Sends `node` its directive; not if the node is disconnected, which gets
  // the directive when it comes back. The revision increases if the key
  // differs from that of the last directive.
  void Tell(Node& node);
  // Sends a directive to an agent that is not a node of the job.
  void TellStream(StreamId stream, DirectiveKind kind, std::string reason);
  void Refuse(StreamId stream, const Objection& objection);

  // The text of waiting nodes' directives has changed: each gets the new one
  // with the answer to its next report.
  void Reword() { ++wording_; }
  // The revision of the newest directive.
  uint64_t revision() const { return revision_; }
  // Sends `node` its unchanged directive with a new revision, and returns that.
  uint64_t Renew(Node& node);

  // This step handles a report of `node`, which has seen the directive of
  // `seen_revision` on this stream (0: none).
  void Await(const Node& node, uint64_t seen_revision);
  // The id of the node that this step's report came from, if that report needs
  // an answer: its stream is new, the node has not seen its newest directive,
  // or it waits by an old wording. To be called at the end of the step, so that
  // the last node to join is not told to wait first. All other directives are
  // sent when they change.
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
