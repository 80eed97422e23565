#ifndef MUSTER_RENDEZVOUS_JOB_STOPPING_H_
#define MUSTER_RENDEZVOUS_JOB_STOPPING_H_

#include <optional>
#include <string>

#include "base/time.h"
#include "rendezvous/protocol/directive.h"
#include "rendezvous/protocol/verdict.h"

namespace muster::rendezvous {

// The consequence of a broken round, once all its members have stopped: a new
// round, or the end of the job with a verdict. If a worker's failure broke the
// round, another event may turn out to be the cause (Blame). Withdraw then
// undoes the consequence of the failure. Pure.
class Consequence {
 public:
  // Constructs the consequence "a new round follows, and no restart is spent".
  Consequence() = default;
  // Returns the consequence "the job ends with `verdict`".
  static Consequence End(Verdict verdict);
  // Returns the consequence "a new round follows, and one restart is spent".
  static Consequence Restart();

  // Restores a consequence from a record. Each parameter is the value that the
  // accessor of the same name returns.
  Consequence(std::optional<Verdict> verdict, std::optional<Verdict> otherwise,
              int restarts_spent);

  // Whether the cause of the break is final. A provisional cause is a failure
  // that another event may still replace (Blame::provisional).
  enum class Cause { kProvisional, kFinal };
  // Records that the job was cancelled. `verdict` then ends the job, unless
  // another verdict is set already; that verdict stays. But if `cause` is
  // provisional, Withdraw may drop that verdict later. So `verdict` is then
  // also kept as otherwise(), and ends the job after Withdraw. Only the first
  // cancel counts. Returns whether `verdict` was recorded.
  bool Cancel(const Verdict& verdict, Cause cause);
  // Undoes the consequence of a worker's failure, because another event is the
  // cause: the job then ends with the verdict of a cancel (otherwise()) or,
  // without a cancel, a new round follows. Returns the number of restarts that
  // the failure had spent, which the caller must give back.
  int Withdraw();
  // Changes reason and exit code of the verdict to those of another failure. No
  // effect if the verdict comes from a cancel, or if there is no verdict.
  void Replace(const std::string& reason, int exit_code);

  // Whether a failure broke the round. The consequence is then a spent restart
  // or the end of the job.
  bool IsFailure() const;
  // The verdict that ends the job; nullopt: a new round follows.
  const std::optional<Verdict>& verdict() const { return verdict_; }
  // If Withdraw drops the verdict of a worker's failure, the job ends with this
  // verdict, which comes from a cancel; nullopt: a new round begins instead.
  const std::optional<Verdict>& otherwise() const { return otherwise_; }
  int restarts_spent() const { return restarts_spent_; }

 private:
  std::optional<Verdict> verdict_;
  std::optional<Verdict> otherwise_;
  int restarts_spent_ = 0;
};

// How a broken round is stopped: the stop order to its members, the deadline by
// which they must have stopped, and the consequence of the break (a new round
// or the end of the job). Pure.
struct Stopping {
  // The signal that the workers get first. SIGKILL follows after the grace
  // period.
  int signal = 15;
  // whether the workers get SIGKILL at once, without a grace period
  bool at_once = false;
  StopCause cause = StopCause::kBroken;
  Consequence consequence;
  // How often another event has replaced the cause of the round's break.
  int causes_replaced = 0;
  // Time at which members that have not stopped count as lost.
  Instant deadline = Instant::max();

  // Sets the deadline for a stop order that is sent now: `grace` (zero if
  // `at_once`) plus a margin of 5 s for SIGKILL, reaping and the report. If a
  // deadline is set already, it is never postponed.
  void Limit(Instant now, Duration grace);
  // Changes the stop order to SIGKILL at once. Returns whether the order has
  // changed; if so, the members must get a new directive.
  bool Hurry(Instant now);
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOB_STOPPING_H_
