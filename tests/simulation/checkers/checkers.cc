#include "tests/simulation/checkers/checkers.h"

#include <utility>

namespace muster::simulation {
namespace {

using Make = std::unique_ptr<Checker> (*)(const Plan&);

std::vector<std::unique_ptr<Checker>> MakeAll(std::vector<Make> makers,
                                              const Plan& plan) {
  std::vector<std::unique_ptr<Checker>> all;
  for (Make make : makers) all.push_back(make(plan));
  return all;
}

}  // namespace

std::vector<std::unique_ptr<Checker>> CoordinatorCheckers(const Plan& plan) {
  return MakeAll(
      {NewAdoptionChecker, NewAttributionChecker, NewBudgetChecker,
       NewDeadlineChecker, NewDetectionChecker, NewHealthChecker,
       NewHangChecker, NewIncarnationChecker, NewPreemptionChecker,
       NewRoundChecker, NewStickyChecker, NewVerdictChecker},
      plan);
}

std::vector<std::unique_ptr<Checker>> AllCheckers(const Plan& plan) {
  std::vector<std::unique_ptr<Checker>> all =
      MakeAll({NewOwnerChecker, NewWorldChecker}, plan);
  if (!plan.takeover) return all;
  for (auto& checker :
       MakeAll({NewOneVerdictChecker, NewPromiseChecker, NewSpendingChecker,
                NewSplitBrainChecker, NewTakeoverTimeChecker},
               plan)) {
    all.push_back(std::move(checker));
  }
  return all;
}

}  // namespace muster::simulation
