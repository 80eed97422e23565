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
// them. The cause is the first failure that Muster did not bring about itself;
// the others are collateral. (torchrun takes the failure with the smallest
// wall-clock time, and so blames the node whose clock is slow.)
class FailureLog {
 public:
  FailureLog() = default;
  // Constructs a log with these contents. `omitted`: number of failures that
  // the log had no room for.
  FailureLog(std::optional<Failure> cause, std::vector<Failure> collateral,
             int omitted);

  void Clear();
  void Add(const Failure& failure);
  // Makes `cause` the cause, even if its kind would not count otherwise. The
  // former cause becomes the first collateral failure.
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

// Whether the message of a failure is typical of a worker whose peer
// disappeared: "Connection closed by peer", "DistBackendError: NCCL error ...".
// Such a failure is the consequence of another one. Searches for known texts of
// sockets, PyTorch, Gloo, NCCL and the SDK; ignores case. Pure.
bool IsCommunicationError(std::string_view message);

// When the hung worker gave its last sign of life, by this coordinator's clock.
// The message's latency makes the time slightly too late.
Instant SilentSince(const Failure& hang, Instant now);
// Whether the hung worker is stopped by a signal (SIGSTOP). Then its peers wait
// for this worker, and not vice versa.
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
  // between the SIGKILL of a worker and the SIGKILL of the node's agent. A job
  // that is about to end after such a SIGKILL waits this long; a restart does
  // not wait.
  static constexpr Duration kKillSpread = std::chrono::milliseconds(250);

  // Resets everything for a new round.
  void Clear();
  // Continues with the failures and the reason that another coordinator has
  // recorded; the cause is final.
  void Restore(FailureLog failures, std::string why);
  // Records a failure of the round.
  void Add(const Failure& failure) { failures_.Add(failure); }
  // Records that the round is broken because of `why`. `failure`: the worker
  // failure that is the provisional cause; null: the cause is final.
  // `revision`: revision of the newest directive. A node that has seen a later
  // revision was alive after the break.
  void Break(Instant now, uint64_t revision, std::string why,
             const Failure* failure);

  // Whether the cause is a worker's failure, and another event may still
  // replace it.
  bool provisional() const { return provisional_; }
  // The reason of the break as text; after MoveTo, that of the new cause.
  const std::string& why() const { return why_; }
  const FailureLog& failures() const { return failures_; }

  // Whether the loss of node `lost` explains the failure. A node whose reports
  // still arrive was declared lost only because it did not stop in time, so its
  // loss explains nothing. A node that has reported the failure, or has
  // answered the order to stop, outlived the failure; its loss explains the
  // failure only if its worker was killed at most kKillSpread before its agent.
  bool LossExplains(const Node& lost, Instant now) const;
  // Whether the departure of node `leaving` explains the failure of the round:
  // the node's guardian process died, or the sender of the SIGTERM to its agent
  // had signalled its workers before. If the node's workers had succeeded in
  // `round`, the broken one, the departure explains nothing.
  bool LeaveExplains(const Node& leaving, int round) const;
  // Whether a preemption that `node` announces explains the failure.
  bool PreemptionExplains(const Node& node) const;
  // Records the loss of a node as the final cause.
  void MoveToLoss(const Failure& loss);
  // Marks the cause as final, because it is not a worker's failure.
  void Settle() { provisional_ = false; }

  // How to report that another failure has become the cause while the round
  // stops.
  struct Move {
    const char* decision;    // Decision::kind of the change
    const char* instead_of;  // text between the new and the old reason
  };
  // Decides whether `failure`, which has just been received, becomes the cause;
  // nullopt: no. If one worker hangs, its peers wait for it and fall silent as
  // well, and which node reports first depends on how long it takes to collect
  // stacks. Therefore a hang that began earlier replaces the cause, and a
  // worker that is stopped by a signal replaces a running one. A worker that
  // raises an exception may need seconds to exit, for example in
  // destroy_process_group(); its peers lose their connections to it and may
  // exit before. Therefore the worker with the older error file replaces the
  // cause.
  std::optional<Move> MovesTo(const Failure& failure, Instant now) const;
  // Records `failure`, for which MovesTo returned a value, as the cause, and
  // `why` as the reason.
  void MoveTo(const Failure& failure, std::string why, Instant now);

  // Remembers a SIGKILL that Muster did not send to a worker of `node`. The
  // whole node may be dying of it, even if another failure was received first.
  void SuspectKill(const Node& node, const Failure& failure, Instant now);
  // Whether the verdict must wait: a SIGKILL may be the cause of the break, and
  // it is not yet known whether the killed worker's agent survived the SIGKILL
  // by kKillSpread. O(log n).
  bool AwaitsProofOfLife(const Membership& nodes, Instant now) const;
  // When AwaitsProofOfLife stops waiting for a connected agent; nullopt: it
  // does not wait. The wait for a disconnected agent ends with the lease.
  std::optional<Instant> NextDeadline(Instant now) const;
  // Restarts the wait of AwaitsProofOfLife, at most once. The coordinator's
  // process was suspended from `due` until `now`, so it may not have read the
  // end of the agent's stream yet.
  void ForgiveStandstill(Instant due, Instant now);

 private:
  // Whether all reports of the node so far may be older than the failure that
  // broke the round.
  bool HasNotSeenBreak(const Node& node) const;

  FailureLog failures_;
  std::string why_;
  Instant broken_at_;
  uint64_t revision_ = 0;
  bool provisional_ = false;
  // The node of the failed worker, which reported the failure.
  std::string failed_on_;
  // Only if the failure is a hang: when its worker fell silent, and whether a
  // signal keeps that worker stopped.
  std::optional<Instant> silent_since_;
  bool stopped_ = false;
  // Set only after a SIGKILL that Muster did not send: the killed worker's
  // node, and the time after which the node's agent has survived that SIGKILL.
  std::string killed_on_;
  Instant outlived_;
  bool forgiven_ = false;  // whether outlived_ was postponed
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOB_BLAME_H_
