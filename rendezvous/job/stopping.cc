#include "rendezvous/job/stopping.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace muster::rendezvous {
namespace {

// Time that a member has after the end of the grace period to kill its workers
// with SIGKILL, to reap them and to report. A member that needs longer is
// declared lost.
constexpr Duration kStopMargin = std::chrono::seconds(5);

}  // namespace

Consequence::Consequence(std::optional<Verdict> verdict,
                         std::optional<Verdict> otherwise, int restarts_spent)
    : verdict_(std::move(verdict)),
      otherwise_(std::move(otherwise)),
      restarts_spent_(restarts_spent) {}

Consequence Consequence::End(Verdict verdict) {
  Consequence end;
  end.verdict_ = std::move(verdict);
  return end;
}

Consequence Consequence::Restart() {
  Consequence restart;
  restart.restarts_spent_ = 1;
  return restart;
}

bool Consequence::Cancel(const Verdict& verdict, Cause cause) {
  std::optional<Verdict>& follows =
      cause == Cause::kProvisional ? otherwise_ : verdict_;
  if (follows.has_value()) return false;
  follows = verdict;
  if (!verdict_.has_value()) verdict_ = verdict;
  return true;
}

int Consequence::Withdraw() {
  verdict_ = otherwise_;
  return std::exchange(restarts_spent_, 0);
}

void Consequence::Replace(const std::string& reason, int exit_code) {
  if (!verdict_.has_value() || verdict_->outcome != Outcome::kFailed) return;
  verdict_->reason = reason;
  verdict_->exit_code = exit_code;
}

bool Consequence::IsFailure() const {
  return restarts_spent_ > 0 ||
         (verdict_.has_value() && verdict_->outcome == Outcome::kFailed);
}

void Stopping::Limit(Instant now, Duration grace) {
  const Duration left = at_once ? Duration::zero() : grace;
  deadline = std::min(deadline, now + kStopMargin + left);
}

bool Stopping::Hurry(Instant now) {
  if (at_once) return false;
  at_once = true;
  Limit(now, Duration::zero());
  return true;
}

}  // namespace muster::rendezvous
