#ifndef MUSTER_RENDEZVOUS_JOB_NODE_H_
#define MUSTER_RENDEZVOUS_JOB_NODE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "rendezvous/job/job_step.h"
#include "rendezvous/protocol/report.h"

namespace muster::rendezvous {

// A node's progress within the current round.
enum class Part {
  kNone,      // not a member
  kAssigned,  // told to run; has not confirmed it yet
  kRunning,
  kSucceeded,  // all of its workers exited with 0
  kStopped,    // no process of this round is left on it
};

// Everything that a directive says except its texts. Two directives with equal
// keys have the same revision.
struct DirectiveKey {
  DirectiveKind kind = DirectiveKind::kWait;
  int round = -1;
  uint64_t newest_signal = 0;
  bool at_once = false;
  bool preempted = false;

  friend bool operator==(const DirectiveKey&, const DirectiveKey&) = default;
};

// A node of a job: the last report of its agent, and the last directive to it.
struct Node {
  NodeIdentity identity;
  uint64_t joined = 0;  // order of arrival
  uint64_t sequence = 0;
  // The newest of this coordinator's revisions that it has seen.
  uint64_t seen = 0;
  NodePhase phase = NodePhase::kIdle;
  int round = 0;
  int offered_master_port = 0;
  std::string offered_nccl_id;
  // The last NCCL id that was given to a world, or that may have been: by an
  // earlier coordinator, or by this one before the node was lost.
  std::string spent_nccl_id;
  // Ordinal of its last SignalNotice that was handled.
  uint64_t newest_signal = 0;
  int failures_taken = 0;  // number of `round`'s failures that were handled
  std::vector<WorkerProgress> progress;  // of `round`'s workers, for the status
  Health health = Health::kHealthy;
  std::string unhealthy;
  bool going = false;  // was drained or wants to leave
  std::string going_why;

  StreamId stream = 0;   // 0: not connected
  Instant broken_since;  // valid if `stream` is 0
  Instant heard;
  Instant deadline;       // the node is lost then, unless it reports before
  bool forgiven = false;  // the deadline was put off once (Job::ForgiveSilence)

  // The stream of another agent that claims this place; 0: none. Once this node
  // proves to be alive, the claimant is refused, or keeps waiting if
  // Report::waits_for_place is set. It is admitted by its next report after
  // this node has ended or its lease has run out.
  StreamId contender = 0;
  // The revision of the directive that was sent when `contender` came. Only a
  // node that has seen this revision is known to be alive; an older report may
  // have been in flight while its agent died.
  uint64_t proof_of_life = 0;
  bool proved_alive = false;  // since `contender` came
  uint64_t contender_incarnation = 0;
  Instant contended_since;  // start of the claim by `contender_incarnation`

  // The revision that the node must have seen before it is given a place. A
  // node that was lost and came back may still receive an older kRun; until it
  // has seen this revision, its idle phase proves nothing.
  uint64_t must_have_seen = 0;

  Part part = Part::kNone;
  int group_rank = -1;

  DirectiveKey told;
  uint64_t revision = 0;  // of `told`; 0: nothing told yet
  uint64_t wording = 0;   // the wording_ of the last directive

  // Whether the node can be given a place in a world now.
  bool ready() const;
  // Whether checks are running that will make the node ready or unhealthy.
  bool being_checked() const;
  // Whether only its unhealth keeps the node out.
  bool kept_out() const;

 private:
  // Whether the node is ready except for its health.
  bool present() const;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOB_NODE_H_
