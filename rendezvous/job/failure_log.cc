#include "rendezvous/job/failure_log.h"

#include <utility>

namespace muster::rendezvous {

void FailureLog::Clear() { *this = FailureLog(); }

void FailureLog::Add(const Failure& failure) {
  if (!cause_.has_value() && failure.kind != FailureKind::kStoppedByUs) {
    cause_ = failure;
  } else if (static_cast<int>(collateral_.size()) < kMaxCollateral) {
    collateral_.push_back(failure);
    // Only the cause is shown with its details; collateral is one line each.
    collateral_.back().traceback.clear();
    collateral_.back().stderr_tail.clear();
    collateral_.back().stack.clear();
  } else {
    ++omitted_;
  }
}

void FailureLog::Blame(const Failure& cause) {
  FailureLog blamed;
  blamed.cause_ = cause;
  if (cause_.has_value()) blamed.Add(*cause_);
  for (const Failure& failure : collateral_) blamed.Add(failure);
  blamed.omitted_ += omitted_;
  *this = std::move(blamed);
}

void FailureLog::Tell(Verdict& verdict) const {
  verdict.cause = cause_;
  verdict.collateral = collateral_;
  verdict.collateral_omitted = omitted_;
}

int ExitCodeOf(const Failure& failure) {
  switch (failure.kind) {
    case FailureKind::kExitCode:
      // Slurm or Kubernetes would take this worker's exit code for a
      // preemption, and start the job again for ever.
      if (failure.exit_code == kPreemptedExitCode) return 1;
      [[fallthrough]];
    case FailureKind::kStartFailed:
      return failure.exit_code != 0 ? failure.exit_code : 1;
    case FailureKind::kSignal:
      return 128 + failure.signal;
    case FailureKind::kStoppedByUs:
    case FailureKind::kNodeLost:
    case FailureKind::kHung:
      return 1;
  }
  return 1;
}

}  // namespace muster::rendezvous
