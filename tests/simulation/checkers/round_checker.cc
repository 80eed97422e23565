#include <algorithm>

#include "absl/strings/str_cat.h"
#include "tests/simulation/checkers/checkers.h"

namespace muster::simulation {
namespace {

class RoundChecker : public Checker {
 public:
  explicit RoundChecker(const Plan& plan) : Checker(plan, "round +0/+1") {}

  void OnCoordinatorStarted(uint64_t) override {
    round_ = 0;
    claimed_ = told_ = 0;
  }
  void OnReport(AgentName, rendezvous::StreamId,
                const rendezvous::Report& report) override {
    told_ = std::max(told_, report.electorate.world.round);
  }
  void OnStep(const CoordinatorStepped& step) override {
    // Update claimed_, the highest round that any node has run, even under an
    // earlier coordinator. The number of a new round must be higher.
    for (const rendezvous::NodeStatus& node : step.status.nodes) {
      claimed_ = std::max(claimed_, node.round);
    }
    claimed_ = std::max(claimed_, step.recalled_round);
    int begun = 0;
    for (const rendezvous::Decision& decision : step.decisions) {
      begun += decision.kind == "assign" ? 1 : 0;
      if (decision.kind == "adopt") Adopt(step.status.round);
    }
    if (begun == 0 && step.status.round != round_) {
      Fail(absl::StrCat("from ", round_, " to ", step.status.round,
                        " without a world"));
    }
    const int highest = std::max(round_, claimed_);
    const bool is_next = step.status.round > highest &&
                         step.status.round <= std::max(highest, told_) + 1;
    if (begun == 1 && !is_next) {
      Fail(absl::StrCat("from ", round_, " (nodes claim ", claimed_, ") to ",
                        step.status.round));
    }
    if (begun > 1) Fail("two rounds in one step");
    round_ = step.status.round;
  }

 private:
  // Checks that this coordinator may continue `round`, which an earlier
  // coordinator began. This coordinator must have begun no round itself, and
  // `round` must be at most one above the highest round that is known to have
  // run.
  void Adopt(int round) {
    if (round_ != 0) Fail("a coordinator that has begun a round adopts one");
    if (round > std::max(claimed_, told_) + 1) {
      Fail("adopts a round of no node");
    }
    round_ = std::min(round, claimed_);
  }

  int round_ = 0;
  int claimed_ = 0;
  int told_ = 0;  // highest round of an electorate that an agent has reported
};

}  // namespace

std::unique_ptr<Checker> NewRoundChecker(const Plan& plan) {
  return std::make_unique<RoundChecker>(plan);
}

}  // namespace muster::simulation
