#ifndef MUSTER_RENDEZVOUS_JOB_FAILURE_LOG_H_
#define MUSTER_RENDEZVOUS_JOB_FAILURE_LOG_H_

#include <optional>
#include <vector>

#include "rendezvous/protocol/failure.h"
#include "rendezvous/protocol/verdict.h"

namespace muster {

// The failures of one round, in the order in which the coordinator heard of
// them. The first that was not our own doing is the cause; the rest followed
// from it. (A minimum of wall clocks, as torchrun takes it, blames whichever
// node's clock is behind.)
class FailureLog {
 public:
  void Clear();
  void Add(const Failure& failure);
  // Makes `cause` the cause, and what was taken for it the first collateral.
  void Blame(const Failure& cause);

  const std::optional<Failure>& cause() const { return cause_; }
  // Copies cause and collateral into `verdict`.
  void Tell(Verdict& verdict) const;

 private:
  std::optional<Failure> cause_;
  std::vector<Failure> collateral_;
  int omitted_ = 0;
};

// What `launch` exits with for this cause: the exit code, 128 + signal, else 1.
int ExitCodeOf(const Failure& failure);

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_JOB_FAILURE_LOG_H_
