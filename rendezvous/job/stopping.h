#ifndef MUSTER_RENDEZVOUS_JOB_STOPPING_H_
#define MUSTER_RENDEZVOUS_JOB_STOPPING_H_

#include <optional>
#include <string>

#include "base/time.h"
#include "rendezvous/protocol/directive.h"
#include "rendezvous/protocol/verdict.h"

namespace muster::rendezvous {

// The consequence of a broken round once all its members have stopped: a new
// round, or the end of the job with a verdict. The consequence of a worker's
// failure is provisional: if another event turns out to be the cause (Blame),
// it is withdrawn. Pure.
class Consequence {
 public:
  // A new round that spends no restart.
  Consequence() = default;
  // The job ends with `verdict`.
  static Consequence End(Verdict verdict);
  // A new round that spends one restart.
  static Consequence Restart();

  // The consequence with these values; see the accessors.
  Consequence(std::optional<Verdict> verdict, std::optional<Verdict> otherwise,
              int restarts_spent);

  // Whether the cause of the break is final, or a failure that another event
  // may still replace (Blame::provisional).
  enum class Cause { kProvisional, kFinal };
  // Ends the job with the `verdict` of a cancel, unless a verdict is set. With
  // a provisional cause, a failure's verdict stays; if that verdict is
  // withdrawn, the verdict of the first cancel takes effect. Returns whether
  // `verdict` may end the job.
  bool Cancel(const Verdict& verdict, Cause cause);
  // Withdraws the consequence of a failure. Returns the number of restarts that
  // it had spent and that the caller gives back.
  int Withdraw();
  // Replaces reason and exit code of a failure's verdict by those of another
  // failure. No effect on a verdict of a cancel.
  void Replace(const std::string& reason, int exit_code);

  // Whether the failure spends a restart or ends the job.
  bool IsFailure() const;
  // nullopt: a new round follows.
  const std::optional<Verdict>& verdict() const { return verdict_; }
  // The verdict that replaces verdict() if the failure's consequence is
  // withdrawn.
  const std::optional<Verdict>& otherwise() const { return otherwise_; }
  int restarts_spent() const { return restarts_spent_; }

 private:
  std::optional<Verdict> verdict_;
  std::optional<Verdict> otherwise_;
  int restarts_spent_ = 0;
};

// The stop of a broken round: the order to its members, their time limit, and
// the consequence. Pure.
struct Stopping {
  int signal = 15;       // the first signal sent to the workers
  bool at_once = false;  // SIGKILL at once, without the grace
  StopCause cause = StopCause::kBroken;
  Consequence consequence;
  int causes_replaced = 0;  // how often another event became the cause
  // Time at which members that have not stopped count as lost.
  Instant deadline = Instant::max();

  // Sets the deadline of an order that is sent now: `grace`, none if `at_once`,
  // and a margin of 5 s for SIGKILL, reaping and the report. A later order
  // never postpones the deadline.
  void Limit(Instant now, Duration grace);
  // Changes the order to SIGKILL at once. Returns whether that is a change, so
  // that the members must be told.
  bool Hurry(Instant now);
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOB_STOPPING_H_
