#include <optional>
#include <set>
#include <variant>

#include "absl/strings/str_cat.h"
#include "tests/simulation/checkers/checkers.h"

namespace muster::simulation {
namespace {

using std::chrono::seconds;

// What a job gives its members beyond the grace to stop.
constexpr Duration kStopMargin = seconds(5);

class PreemptionChecker : public Checker {
 public:
  explicit PreemptionChecker(const Plan& plan) : Checker(plan, "preemption") {}

  void OnCoordinatorStarted(uint64_t) override {
    known_since_.reset();
    ended_ = false;
  }
  void OnStep(const CoordinatorStepped& step) override {
    for (const Decision& decision : step.decisions) {
      if (decision.kind == "preempt") known_since_ = now();
      if (decision.kind == "assign" && known_since_.has_value()) {
        Fail("a round begins after the notice: " + decision.reason);
      }
    }
    ended_ = step.status.phase == JobPhase::kFinished;
    if (!known_since_.has_value() || !ended_) return;
    const Verdict& verdict = *step.status.verdict;
    if (verdict.outcome == Outcome::kSucceeded) {
      Fail("a job that was preempted succeeds");
    }
    if ((verdict.outcome == Outcome::kPreempted) !=
        (verdict.exit_code == kPreemptedExitCode)) {
      Fail(absl::StrCat("exit code ", verdict.exit_code));
    }
  }
  void OnTick() override {
    if (!known_since_.has_value() || ended_) return;
    const JobSpec& spec = plan().spec;
    const Duration limit =
        spec.preempt_grace + spec.shutdown_timeout + kStopMargin + seconds(1);
    if (now() > *known_since_ + limit) {
      Fail(absl::StrCat("the job has not ended ",
                        ToSeconds(now() - *known_since_), " s after it"));
      known_since_.reset();
    }
  }
  void OnAgentStepped(AgentName agent, const LifecycleStep& step,
                      std::optional<Instant>) override {
    for (const auto& action : step.actions) {
      if (std::holds_alternative<AnnouncePreemption>(action)) {
        if (!told_.insert(agent.incarnation).second) {
          Fail(absl::StrCat("n", agent.slot, " announces it twice"));
        }
      } else if (std::holds_alternative<StartWorkers>(action) &&
                 told_.contains(agent.incarnation)) {
        Fail(absl::StrCat("n", agent.slot, " starts workers after the notice"));
      }
    }
  }

 private:
  std::optional<Instant> known_since_;  // to the coordinator
  bool ended_ = false;
  std::set<uint64_t> told_;  // by incarnation
};

}  // namespace

std::unique_ptr<Checker> NewPreemptionChecker(const Plan& plan) {
  return std::make_unique<PreemptionChecker>(plan);
}

}  // namespace muster::simulation
