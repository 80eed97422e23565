#include "tests/simulation/checkers/checkers.h"

namespace muster::simulation {

std::vector<std::unique_ptr<Checker>> AllCheckers(const Plan& plan) {
  std::vector<std::unique_ptr<Checker>> all;
  for (auto make : {NewAdoptionChecker, NewAttributionChecker, NewBudgetChecker,
                    NewDeadlineChecker, NewDetectionChecker, NewHealthChecker,
                    NewHangChecker, NewIncarnationChecker, NewOwnerChecker,
                    NewPreemptionChecker, NewRoundChecker, NewStickyChecker,
                    NewVerdictChecker, NewWorldChecker}) {
    all.push_back(make(plan));
  }
  return all;
}

}  // namespace muster::simulation
