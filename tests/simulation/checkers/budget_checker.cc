#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/simulation/checkers/checkers.h"

namespace muster::simulation {
namespace {

class BudgetChecker : public Checker {
 public:
  explicit BudgetChecker(const Plan& plan) : Checker(plan, "budget") {}

  void OnCoordinatorStarted(uint64_t) override {
    spent_ = 0;
    begun_ = false;
    broken_by_failure_ = false;
    cannot_start_ = false;
    is_unsettled_ = false;
  }
  void OnOtherStep(const CoordinatorStepped& step) override {
    for (const rendezvous::Decision& decision : step.decisions) {
      if (decision.kind == "break" &&
          decision.reason.find("is broken: rank ") != std::string::npos) {
        ++failures_;
      }
    }
  }
  void OnStep(const CoordinatorStepped& step) override {
    const bool had_begun = begun_;
    for (const rendezvous::Decision& decision : step.decisions) {
      if (decision.kind == "break") {
        broken_by_failure_ =
            decision.reason.find("is broken: rank ") != std::string::npos;
        cannot_start_ = broken_by_failure_ &&
                        decision.reason.find(": exec ") != std::string::npos;
      }
      // The decision "blame" replaces a worker's failure by the loss of a node
      // as the reason why the round broke. So the failure uses up no restart.
      if (decision.kind == "blame") {
        Settle(step.status.restarts_used);
        broken_by_failure_ = cannot_start_ = false;
      }
      if (decision.kind == "break" && broken_by_failure_) ++failures_;
      if (decision.kind != "assign") continue;
      begun_ = true;
      if (cannot_start_) Fail("restarted what cannot be started");
      if (is_unsettled_) {
        Settle(step.status.restarts_used);
      } else {
        spent_ += broken_by_failure_ ? 1 : 0;
      }
      broken_by_failure_ = false;
    }
    // Until it has begun or continued a round, a new coordinator learns from
    // the nodes' reports how many restarts earlier coordinators have spent. So
    // take over the number that its status shows.
    if (!had_begun) {
      // A failure of a worker that ends the job (`is_end`) uses no restart. The
      // checker recognises such a failure by a stop order with an exit code.
      // But a cancel in the same step also puts an exit code into the stop
      // order. So after a cancel, the failure may have used a restart.
      const bool is_cancelled = std::ranges::any_of(
          step.decisions,
          [](const auto& decision) { return decision.kind == "cancel"; });
      const bool is_end =
          !is_cancelled && std::ranges::any_of(step.sent, [](const Sent& sent) {
            return sent.directive.stop.exit_code.has_value();
          });
      const int newest = broken_by_failure_ && !is_end ? 1 : 0;
      spent_ = std::max(0, step.status.restarts_used - newest);
      is_unsettled_ = newest > 0;
      if (spent_ > failures_) {
        Fail(absl::StrCat(spent_, " restarts counted after ", failures_,
                          " failures"));
      }
    }
    begun_ = begun_ || step.status.round > 0;
    if (spent_ > plan().spec.max_restarts ||
        step.status.restarts_used > plan().spec.max_restarts) {
      Fail(absl::StrCat(spent_, " restarts of ", plan().spec.max_restarts));
    }
    for (const Sent& sent : step.sent) {
      if (sent.directive.kind == rendezvous::DirectiveKind::kRun &&
          sent.directive.place.round == step.status.round &&
          sent.directive.place.restart_count != spent_) {
        Fail(absl::StrCat("restart ", sent.directive.place.restart_count,
                          " is the ", spent_, "th"));
      }
    }
    // A failure that does not end the job uses up a restart as soon as the
    // round breaks. But `spent_` increases only when the next round starts. So
    // until then the job's status may count one restart more.
    const int at_most = spent_ + (broken_by_failure_ ? 1 : 0);
    if (step.status.restarts_used < spent_ ||
        step.status.restarts_used > at_most) {
      Fail(absl::StrCat(step.status.restarts_used, " restarts counted, ",
                        spent_, " seen"));
    }
  }

 private:
  // Decides from the status's `restarts_used` whether the failure that broke
  // the adopted round has used up a restart. No restart is used if an earlier
  // coordinator had already broken the round for another cause: a node that
  // missed this coordinator's directive still reports the failure.
  void Settle(int restarts_used) {
    if (!std::exchange(is_unsettled_, false)) return;
    spent_ = std::clamp(restarts_used, spent_, spent_ + 1);
  }

  int spent_ = 0;
  // Whether Settle must still decide if the failure that broke the adopted
  // round has used up a restart.
  bool is_unsettled_ = false;
  // number of rounds that broke because a worker failed, under any of the
  // simulation's coordinators
  int failures_ = 0;
  // Whether the coordinator that this checker observes has begun a round, or
  // has continued (adopted) a round of an earlier coordinator.
  bool begun_ = false;
  bool broken_by_failure_ = false;
  bool cannot_start_ = false;
};

}  // namespace

std::unique_ptr<Checker> NewBudgetChecker(const Plan& plan) {
  return std::make_unique<BudgetChecker>(plan);
}

}  // namespace muster::simulation
