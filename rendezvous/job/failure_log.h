#ifndef MUSTER_RENDEZVOUS_JOB_FAILURE_LOG_H_
#define MUSTER_RENDEZVOUS_JOB_FAILURE_LOG_H_

#include <optional>
#include <vector>

#include "rendezvous/protocol/failure.h"
#include "rendezvous/protocol/verdict.h"

namespace muster::rendezvous {

// The failures of one round, in the order in which the coordinator received
// them. The cause is the first one that Muster did not bring about itself; the
// others are collateral. (torchrun takes the smallest wall-clock time, and so
// blames the node whose clock is slow.)
class FailureLog {
 public:
  void Clear();
  void Add(const Failure& failure);
  // Makes `cause` the cause, of whatever kind it is. The former cause becomes
  // the first collateral.
  void Blame(const Failure& cause);

  const std::optional<Failure>& cause() const { return cause_; }
  // Copies cause and collateral into `verdict`.
  void Tell(Verdict& verdict) const;

 private:
  std::optional<Failure> cause_;
  std::vector<Failure> collateral_;
  int omitted_ = 0;
};

// The exit code of `launch` for this cause: the worker's exit code, or 128 +
// signal, or else 1.
int ExitCodeOf(const Failure& failure);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOB_FAILURE_LOG_H_
