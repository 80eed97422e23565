#include <chrono>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/simulation/checkers/checkers.h"

namespace muster::simulation {
namespace {

// Checks that the durations of an agent's activities, as it reports them, add
// up to the time since its start, and that the job counts no agent's time
// twice.
class TimeChecker : public Checker {
 public:
  explicit TimeChecker(const Plan& plan) : Checker(plan, "time") {}

  void OnAgentStarted(AgentName agent) override {
    began_[{agent.slot, agent.incarnation}] = now();
  }
  void OnAgentStepped(AgentName agent, const agent::LifecycleStep& step,
                      std::optional<Instant>) override {
    if (!step.report.has_value()) return;
    const Life life(agent.slot, agent.incarnation);
    const Duration told = step.report->time.ledger.total();
    const Duration lived = now() - began_[life];
    if (told < plan().Shortest(lived) || told > plan().Longest(lived)) {
      Fail(absl::StrCat("n", agent.slot, " lived ", ToSeconds(lived),
                        " s and tells ", ToSeconds(told), " s"));
    }
    told_s_ += ToSeconds(told - told_[life]);
    told_[life] = told;
  }
  void OnStep(const CoordinatorStepped& step) override {
    constexpr double kRoundingS = 1e-6;
    const double counted = step.status.time.total_s();
    if (counted > told_s_ + kRoundingS) {
      Fail(absl::StrCat("the job counts ", counted, " s, its nodes ", told_s_,
                        " s"));
    }
  }

 private:
  using Life = std::pair<int, uint64_t>;  // slot and incarnation of an agent
  std::map<Life, Instant> began_;
  std::map<Life, Duration> told_;
  // sum of the durations that all agents have reported, in seconds
  double told_s_ = 0;
};

}  // namespace

std::unique_ptr<Checker> NewTimeChecker(const Plan& plan) {
  return std::make_unique<TimeChecker>(plan);
}

}  // namespace muster::simulation
