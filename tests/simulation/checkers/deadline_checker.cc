#include <map>

#include "absl/strings/str_cat.h"
#include "tests/simulation/checkers/checkers.h"

namespace muster::simulation {
namespace {

class DeadlineChecker : public Checker {
 public:
  explicit DeadlineChecker(const Plan& plan) : Checker(plan, "deadlines") {}

  void OnStep(const CoordinatorStepped& step) override {
    const bool over = step.status.phase == rendezvous::JobPhase::kFinished;
    if (over == step.next_deadline.has_value()) {
      Fail(over ? "a finished job waits for something"
                : "the job waits without a deadline");
    }
    Check(step.next_deadline, "the job");
  }
  void OnAgentStepped(AgentName agent, const agent::LifecycleStep& step,
                      std::optional<Instant> next_deadline) override {
    if (!next_deadline.has_value() && !step.leave.has_value()) {
      Fail(absl::StrCat("n", agent.slot, " waits without a deadline"));
    }
    if (!step.leave.has_value()) Check(next_deadline, "an agent");
  }

 private:
  void Check(std::optional<Instant> deadline, const char* who) {
    if (deadline.has_value() && *deadline <= now()) {
      Fail(absl::StrCat(who, " waits for a deadline that has passed"));
    }
  }
};

}  // namespace

std::unique_ptr<Checker> NewDeadlineChecker(const Plan& plan) {
  return std::make_unique<DeadlineChecker>(plan);
}

}  // namespace muster::simulation
