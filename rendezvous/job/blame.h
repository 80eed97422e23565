#ifndef MUSTER_RENDEZVOUS_JOB_BLAME_H_
#define MUSTER_RENDEZVOUS_JOB_BLAME_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "rendezvous/job/membership.h"
#include "rendezvous/protocol/failure.h"
#include "rendezvous/protocol/verdict.h"

namespace muster::rendezvous {

// The failures of one round, in the order in which the coordinator received
// them. The cause is the first one that Muster did not bring about itself; the
// others are collateral. (torchrun takes the smallest wall-clock time, and so
// blames the node whose clock is slow.)
class FailureLog {
 public:
  FailureLog() = default;
  // The log with these contents; `omitted`: number of failures that it had no
  // room for.
  FailureLog(std::optional<Failure> cause, std::vector<Failure> collateral,
             int omitted);

  void Clear();
  void Add(const Failure& failure);
  // Makes `cause` the cause, of whatever kind it is. The former cause becomes
  // the first collateral.
  void Blame(const Failure& cause);

  const std::optional<Failure>& cause() const { return cause_; }
  const std::vector<Failure>& collateral() const { return collateral_; }
  int omitted() const { return omitted_; }
  // Copies the cause and the collateral into `verdict`.
  void Tell(Verdict& verdict) const;

 private:
  std::optional<Failure> cause_;
  std::vector<Failure> collateral_;
  int omitted_ = 0;
};

// Whether the message of a failure is that of a worker whose peer went away:
// "Connection closed by peer", "DistBackendError: NCCL error ...". Such a
// failure follows from another one. Known texts of sockets, PyTorch, Gloo, NCCL
// and the SDK; letter case does not count. Pure.
bool IsCommunicationError(std::string_view message);

// The time, by this coordinator's clock, of the last sign of life of the worker
// that hangs. The message's latency makes it slightly too late.
Instant SilentSince(const Failure& hang, Instant now);
// Whether a signal keeps the hanging worker stopped. Its peers wait for this
// worker then, and not vice versa.
bool IsStopped(const Failure& hang);

// Policy that decides which failure is recorded as the cause of a round's
// break. It is the first failure that the coordinator receives, but while the
// round stops, a later message may show that another event came before:
//
//   the loss of a node      The node died first; the failure is that of a peer
//                           whose connection broke. LossExplains.
//   a node that leaves      Its workers were signalled first. LeaveExplains.
//   a preemption            The cluster signals one process after another.
//                           PreemptionExplains.
//   an earlier exception    The worker raised it, then needed seconds to exit.
//                           MovesTo.
//   a likelier hang         A worker that fell silent earlier, or that is
//                           stopped by a signal. MovesTo.
//
// The order in which such messages are read proves nothing. A node that has
// answered the order to stop outlived the failure, and explains nothing.
// Pure. O(1), unless noted.
class Blame {
 public:
  // Slurm (a job step) and the kernel (a cgroup) end a whole node by sending
  // SIGKILL to one process after another. kKillSpread is the longest time
  // between the SIGKILL of a worker and the SIGKILL of its agent. A job that is
  // about to end after such a SIGKILL waits this long; a restart does not wait.
  static constexpr Duration kKillSpread = std::chrono::milliseconds(250);

  // Begins a new round without failures and without a break.
  void Clear();
  // Continues with what another coordinator has found; the cause is final.
  void Restore(FailureLog failures, std::string why);
  // Records a failure of the round.
  void Add(const Failure& failure) { failures_.Add(failure); }
  // Records that the round is broken because of `why`. `failure`: the worker's
  // failure that is the cause until another event explains it; null: the cause
  // is final. `revision`: that of the newest directive. A node that has seen a
  // later revision was alive after the break.
  void Break(Instant now, uint64_t revision, std::string why,
             const Failure* failure);

  // Whether the cause is a worker's failure, and another event may still
  // replace it.
  bool provisional() const { return provisional_; }
  // The reason of the break, or of the failure to which the blame moved.
  const std::string& why() const { return why_; }
  const FailureLog& failures() const { return failures_; }

  // Whether the loss of this node explains the failure. A node that is still
  // connected and sends reports was declared lost only because it did not stop
  // in time, which explains nothing. The node that reported the failure
  // outlived it, unless its worker was killed at most kKillSpread before its
  // agent.
  bool LossExplains(const Node& lost, Instant now) const;
  // Whether the departure of this node explains the failure of the round: its
  // guardian process died, or whoever sent SIGTERM to its agent had killed the
  // node's workers before. A node whose workers had succeeded in `round`, the
  // broken one, explains nothing.
  bool LeaveExplains(const Node& leaving, int round) const;
  // Whether a preemption that this node announces explains the failure.
  bool PreemptionExplains(const Node& node) const;
  // Records the loss of a node as the final cause.
  void MoveToLoss(const Failure& loss);
  // Marks the cause as final, because it is not a worker's failure.
  void Settle() { provisional_ = false; }

  // A failure to which the blame moves while the round stops.
  struct Move {
    const char* decision;    // value of Decision::kind for the move
    const char* instead_of;  // text between the new and the former reason
  };
  // Whether the blame moves to `failure`, which has just been read; nullopt if
  // not. If one worker hangs, its peers wait for it and fall silent as well.
  // Which node reports first depends on how long it takes to collect stacks.
  // Therefore the blame moves to a hang that began earlier, and from a running
  // worker to one that is stopped by a signal. A worker that raises an
  // exception may need seconds to exit, for example in
  // destroy_process_group(); its peers lose their connections to it and may
  // exit before. Therefore the blame moves to the worker whose error file is
  // the older one.
  std::optional<Move> MovesTo(const Failure& failure, Instant now) const;
  // Records `failure`, to which the blame moves, as the cause, and `why` as the
  // reason.
  void MoveTo(const Failure& failure, std::string why, Instant now);

  // Remembers a SIGKILL that Muster did not send. It may be the death of its
  // node, `node`, even if it was read after another failure.
  void SuspectKill(const Node& node, const Failure& failure, Instant now);
  // Whether the verdict must wait: a SIGKILL may be the cause of the break, and
  // the agent of the killed worker has not yet lived for kKillSpread after it.
  // O(log n).
  bool AwaitsProofOfLife(const Membership& nodes, Instant now) const;
  // The time at which the wait of AwaitsProofOfLife ends if the agent is
  // connected; nullopt: there is no wait, or it is over. The lease limits the
  // wait for a disconnected agent.
  std::optional<Instant> NextDeadline(Instant now) const;
  // Restarts the wait of AwaitsProofOfLife, at most once, because the
  // coordinator stood still from `due` until `now` and may not have read the
  // end of the agent's stream yet.
  void ForgiveStandstill(Instant due, Instant now);

 private:
  // Whether the node's reports may be older than the failure that broke the
  // round.
  bool HasNotSeenBreak(const Node& node) const;

  FailureLog failures_;
  std::string why_;
  Instant broken_at_;
  uint64_t revision_ = 0;
  bool provisional_ = false;
  // The failed worker's node, which reported the failure.
  std::string failed_on_;
  // Only if the failure is a hang: the time at which its worker fell silent,
  // and whether that worker is stopped by a signal.
  std::optional<Instant> silent_since_;
  bool stopped_ = false;
  // Set only after a SIGKILL that Muster did not send: the killed worker's
  // node, and the time from which the node counts as having outlived that
  // SIGKILL.
  std::string killed_on_;
  Instant outlived_;
  bool forgiven_ = false;  // ForgiveStandstill has postponed `outlived_`
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOB_BLAME_H_
