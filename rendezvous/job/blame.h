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

// Describes the failure: rank, host, message. A failure without a rank is that
// of a node, and its message names the host.
std::string Describe(const Failure& failure);

// The failures of one round, in the order in which the coordinator received
// them. The cause is the first failure that Muster did not bring about itself;
// the others are collateral. (torchrun takes the failure with the earliest
// wall-clock time, so it blames a node whose clock is slow.)
class FailureLog {
 public:
  FailureLog() = default;
  // Constructs a log from recorded failures. `omitted`: number of failures that
  // the log had no room for.
  FailureLog(std::optional<Failure> cause, std::vector<Failure> collateral,
             int omitted);

  void Clear();
  void Add(const Failure& failure);
  void AddCollateral(const Failure& failure);
  // Whether the log has a failure of this node and rank with this message.
  // O(n).
  bool Has(const Failure& failure) const;
  // Makes `cause` the failure that is blamed for the end of the round, even if
  // such a failure is normally only a consequence (collateral). The failure
  // that was blamed before becomes the first collateral failure.
  void Blame(const Failure& cause);

  const std::optional<Failure>& cause() const { return cause_; }
  const std::vector<Failure>& collateral() const { return collateral_; }
  int omitted() const { return omitted_; }
  // Copies into `verdict` the failure that broke the round (cause()) and the
  // collateral failures.
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

// Returns the time of the hung worker's last sign of life, by this
// coordinator's clock. The result is somewhat too late, namely by the time that
// the agent's report of the hang took to arrive.
Instant SilentSince(const Failure& hang, Instant now);
// Whether the hung worker is stopped by a signal (SIGSTOP). In that case its
// peers wait for this worker; the worker does not wait for them.
bool IsStopped(const Failure& hang);

// Policy that decides which failure is recorded as the cause of a round's
// break. At first it is the first failure that the coordinator receives. While
// the round stops, a later message may show that another event is the cause:
//
//   the loss of a node      The node died first. The failure came from a worker
//                           whose connection to the node broke (LossExplains).
//   a node that leaves      The workers of the leaving node were signalled
//                           before its agent, or its guardian died
//                           (LeaveExplains).
//   a preemption            The cluster's scheduler signalled the workers
//                           before their agent (PreemptionExplains).
//   an earlier exception    Another worker raised an exception earlier, and
//                           then needed seconds to exit (MovesTo).
//   a killed worker         The failure came from a worker whose connection to
//                           the killed worker broke (MovesTo).
//   a likelier hang         Another hung worker fell silent earlier, or is
//                           stopped by a signal (MovesTo).
//
// The order in which the coordinator reads messages of several nodes proves
// nothing. If a node has answered the order to stop, it outlived the failure,
// so its loss is not the cause. Pure. O(1), unless noted.
class Blame {
 public:
  // The longest time between the SIGKILL of a worker and the SIGKILL of its
  // agent if the whole node is killed. Slurm and the kernel kill the processes
  // of a job step or cgroup one after another. If a SIGKILL is about to end the
  // job, the verdict waits this long. A restart does not wait.
  static constexpr Duration kKillSpread = std::chrono::milliseconds(250);

  // Forgets all failures and the cause, for example when a new round begins.
  void Clear();
  // Restores the failures of a broken round, and the reason why it broke, from
  // the record of another coordinator. The cause in `failures` is final.
  void Restore(FailureLog failures, std::string why);
  // Records that an earlier coordinator has ended the round because of `why`.
  // From now on, the cause of the round's break is the failure whose
  // description is the beginning of `why`, whether that failure was added
  // before or is added later. All other failures are collateral. A failure that
  // is added twice counts once: a node that was lost and came back reports its
  // failures again.
  void Tell(std::string why);
  // Whether the round was ended by an earlier coordinator (Tell).
  bool is_told() const { return is_told_; }
  // Adds a failure of the current round to the failure log.
  void Add(const Failure& failure);
  // Records that the round is broken because of `why`. `failure`: the worker's
  // failure that is the cause until another event replaces it; null: the cause
  // is final. `revision`: the revision of the newest directive. If a node has
  // seen a later revision, it was alive after the break.
  void Break(Instant now, uint64_t revision, std::string why,
             const Failure* failure);

  // Whether the cause is provisional: a worker's failure, which another event
  // may still replace.
  bool provisional() const { return provisional_; }
  // The reason of the break as text. MoveTo replaces it by the reason of the
  // new cause.
  const std::string& why() const { return why_; }
  const FailureLog& failures() const { return failures_; }

  // Whether the loss of node `lost` explains the worker's failure that broke
  // the round, so that this loss must replace the failure as the cause.
  //
  // If the node's reports still arrive, it was declared lost only because it
  // did not stop in time, and the loss explains nothing. If the node has
  // reported the failure or answered the order to stop, it outlived the
  // failure. The loss then explains the failure only if the node's worker was
  // killed at most kKillSpread (250 ms) before its agent.
  bool LossExplains(const Node& lost, Instant now) const;
  // Whether the departure of node `leaving` explains the failure. The departure
  // explains the failure if the cause of the departure may be older than the
  // failure: the guardian process (the parent of the node's workers) died, or a
  // SIGTERM reached its workers before its agent. `round`: the broken round. If
  // the node's workers had succeeded in it, the departure explains nothing.
  bool LeaveExplains(const Node& leaving, int round) const;
  // Whether a preemption that `node` announces explains the failure that broke
  // the round.
  bool PreemptionExplains(const Node& node) const;
  // Records the loss of a node as the final cause of the break.
  void MoveToLoss(const Failure& loss);
  // Marks the cause as final. Called if the cause is the loss or the departure
  // of a node, not a worker's failure.
  void Settle() { provisional_ = false; }

  // Texts for the entry of the event log which says that another failure than
  // the recorded one is the cause of the round's break.
  struct Move {
    const char* decision;  // the kind (Decision::kind) of the log's entry
    // text between the new and the old reason of the break, such as "; not by "
    const char* instead_of;
  };
  // Decides whether `failure`, which has just been received, replaces the cause
  // of the break; nullopt: no. There are three cases.
  //
  // The cause and `failure` are hangs: if one worker hangs, its peers wait for
  // the worker and fall silent as well. The node that collects stacks fastest
  // reports first. Therefore the hang that began earlier becomes the cause. But
  // if a signal (SIGSTOP) keeps only one of the two hanging workers stopped,
  // the hang of the stopped worker becomes the cause.
  //
  // `failure` is an exception: a worker that raises an exception may need
  // seconds to exit, for example in destroy_process_group(). Its peers lose
  // their connections to the worker and may exit earlier. Therefore an
  // exception that was raised before the event that broke the round becomes the
  // cause (Failure::raised_first).
  //
  // `failure` is a killed worker: its peers lose their connections to the
  // worker and exit. Their failures may be reported first, because an agent on
  // a node without free memory is slow. Therefore, if the cause is a worker
  // whose connection broke, a worker that was killed by a signal such as
  // SIGKILL, not by its own agent, becomes the cause.
  std::optional<Move> MovesTo(const Failure& failure, Instant now) const;
  // Records `failure` as the cause of the round's break, and `why` as the
  // reason of the break. MovesTo must have returned a value for `failure`.
  void MoveTo(const Failure& failure, std::string why, Instant now);

  // If `failure` shows that a worker of `node` died of a SIGKILL that Muster
  // did not send, remembers this. If the node's agent dies soon afterwards, the
  // loss of the node becomes the cause, even if another node's failure was
  // received first (LossExplains).
  void SuspectKill(const Node& node, const Failure& failure, Instant now);
  // Whether the verdict must wait, because a worker was killed by SIGKILL, and
  // its whole node may have been killed with it. The wait ends kKillSpread
  // (250 ms) after the worker's failure was reported. If the node's agent is
  // still connected then, only the worker was killed. O(log n).
  bool AwaitsProofOfLife(const Membership& nodes, Instant now) const;
  // The time at which the verdict no longer waits for a sign of life of a
  // connected agent (AwaitsProofOfLife); nullopt: it does not wait. The wait
  // for a disconnected agent ends with the agent's lease.
  std::optional<Instant> NextDeadline(Instant now) const;
  // Called after the coordinator's process was suspended from `due` until
  // `now`. Restarts the wait of AwaitsProofOfLife, at most once: the killed
  // worker's agent may have died, too, and the coordinator may not yet have
  // read the end of the agent's stream. Has no effect if the wait had ended
  // before `due`.
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
  bool is_told_ = false;
  // Id of the node that reported the failure of its worker.
  std::string failed_on_;
  // silent_since_: if the cause of the break is a hang, the time at which the
  // hung worker fell silent; else nullopt. stopped_: whether a signal (SIGSTOP)
  // keeps that worker stopped.
  std::optional<Instant> silent_since_;
  bool stopped_ = false;
  // Set only after a SIGKILL that Muster did not send. killed_on_: the killed
  // worker's node. outlived_: if the node's agent is alive at this time, it was
  // not killed together with the worker.
  std::string killed_on_;
  Instant outlived_;
  // whether ForgiveStandstill has postponed the end of AwaitsProofOfLife's wait
  // (outlived_), which happens at most once
  bool forgiven_ = false;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOB_BLAME_H_
