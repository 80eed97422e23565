#include "tests/simulation/checkers/checkers.h"

#include <vector>

namespace muster::simulation {
namespace {

using Make = std::unique_ptr<Checker> (*)(const Plan&);

std::vector<std::unique_ptr<Checker>> MakeAll(const std::vector<Make>& makers,
                                              const Plan& plan) {
  std::vector<std::unique_ptr<Checker>> all;
  all.reserve(makers.size());
  for (Make make : makers) all.push_back(make(plan));
  return all;
}

}  // namespace

std::vector<std::unique_ptr<Checker>> CoordinatorCheckers(const Plan& plan) {
  return MakeAll({NewAdoptionChecker, NewAttributionChecker, NewBudgetChecker,
                  NewDeadlineChecker, NewDetectionChecker, NewHealthChecker,
                  NewSuspicionChecker, NewHangChecker, NewIncarnationChecker,
                  NewPreemptionChecker, NewQuarantineChecker, NewRoundChecker,
                  NewStickyChecker, NewVerdictChecker},
                 plan);
}

std::vector<std::unique_ptr<Checker>> AllCheckers(const Plan& plan) {
  std::vector<Make> makers = {NewOwnerChecker, NewTimeChecker, NewWorldChecker};
  if (plan.takeover) {
    makers.insert(makers.end(),
                  {NewOneVerdictChecker, NewPromiseChecker, NewSpendingChecker,
                   NewSplitBrainChecker, NewTakeoverTimeChecker});
  }
  if (plan.etcd()) {
    makers.insert(makers.end(), {NewLeaderChecker, NewOneVerdictChecker,
                                 NewPromiseChecker, NewSpendingChecker});
  }
  return MakeAll(makers, plan);
}

}  // namespace muster::simulation
