// Rounds that end here before they have begun, and the records of ends.

#include <utility>

#include "agent/lifecycle/lifecycle.h"

namespace muster {

void Lifecycle::On(const RoundRefused& event) {
  pending_ = 0;
  Failure failure;
  failure.kind = FailureKind::kStartFailed;
  failure.exit_code = 1;
  failure.message = event.why;
  failures_.push_back(std::move(failure));
  ReleaseWaiters(event.why);
  Settle();
}

void Lifecycle::NoteEnd(Failure failure) {
  failure.traceback.clear();
  failure.stderr_tail.clear();
  failure.stack.clear();
  ends_.push_back(std::move(failure));
}

}  // namespace muster
