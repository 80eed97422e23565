#include <optional>

#include "absl/strings/str_cat.h"
#include "rendezvous/protocol/job_status.h"
#include "tests/simulation/checkers/checkers.h"

namespace muster::simulation {
namespace {

// Whether every coordinator of the job must give this verdict. With takeovers,
// a time-out, a cancel and a preemption are exceptions: a coordinator that has
// lost the majority may give them, while the majority continues under another
// coordinator.
bool IsFinal(const Plan& plan, const rendezvous::Verdict& verdict) {
  if (plan.etcd()) return true;
  return verdict.outcome == rendezvous::Outcome::kSucceeded ||
         verdict.outcome == rendezvous::Outcome::kFailed;
}

class OneVerdictChecker : public Checker {
 public:
  explicit OneVerdictChecker(const Plan& plan) : Checker(plan, "one verdict") {}

  void OnStep(const CoordinatorStepped& step) override {
    for (const rendezvous::Decision& decision : step.decisions) {
      if (decision.kind == "finish") Compare(*step.status.verdict);
    }
  }
  void OnAgentStepped(AgentName, const agent::LifecycleStep& step,
                      std::optional<Instant>) override {
    if (step.leave.has_value() && step.leave->verdict.has_value()) {
      Compare(*step.leave->verdict);
    }
  }

 private:
  void Compare(const rendezvous::Verdict& verdict) {
    if (!IsFinal(plan(), verdict)) return;
    if (!verdict_.has_value()) verdict_ = verdict;
    if (verdict.outcome != verdict_->outcome ||
        verdict.exit_code != verdict_->exit_code) {
      Fail(absl::StrCat(rendezvous::OutcomeText(verdict_->outcome), " (",
                        verdict_->exit_code, ", ", verdict_->reason, ") and ",
                        rendezvous::OutcomeText(verdict.outcome), " (",
                        verdict.exit_code, ", ", verdict.reason, ")"));
    }
  }

  std::optional<rendezvous::Verdict> verdict_;
};

}  // namespace

std::unique_ptr<Checker> NewOneVerdictChecker(const Plan& plan) {
  return std::make_unique<OneVerdictChecker>(plan);
}

}  // namespace muster::simulation
