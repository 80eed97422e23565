#ifndef MUSTER_TESTS_SIMULATION_CHECKERS_CHECKERS_H_
#define MUSTER_TESTS_SIMULATION_CHECKERS_CHECKERS_H_

#include <memory>
#include <vector>

#include "tests/simulation/checker.h"
#include "tests/simulation/plan.h"

namespace muster::simulation {

// A coordinator without a record goes on with a round only after a majority of
// its nodes has come, and waits a lease for them.
std::unique_ptr<Checker> NewAdoptionChecker(const Plan& plan);
// A round breaks only for a cause within that round.
std::unique_ptr<Checker> NewAttributionChecker(const Plan& plan);
// Restarts never exceed the budget, and only failures use it.
std::unique_ptr<Checker> NewBudgetChecker(const Plan& plan);
// Every wait has a deadline, and no deadline passes unnoticed.
std::unique_ptr<Checker> NewDeadlineChecker(const Plan& plan);
// A dead or silent node is removed within its lease; a node whose stream is
// broken, within the reconnect grace.
std::unique_ptr<Checker> NewDetectionChecker(const Plan& plan);
// The stack of a hanging worker is taken when its deadline has passed, and its
// round is stopped. A worker that hangs while its node stops is killed at the
// end of the grace period. Workers that report are left alone. The coordinator
// names only hanging workers as the cause.
std::unique_ptr<Checker> NewHangChecker(const Plan& plan);
// Once a newer incarnation of a node has appeared, the older one never takes
// part in a round again.
std::unique_ptr<Checker> NewIncarnationChecker(const Plan& plan);
// No round starts with a node that is not known to be healthy.
std::unique_ptr<Checker> NewHealthChecker(const Plan& plan);
// After the notice of a preemption no round starts, on no node that knows of
// the notice. The job ends within its time and without success. A node that
// knows of the notice leaves in time even without a coordinator.
std::unique_ptr<Checker> NewPreemptionChecker(const Plan& plan);
// A rank of a round never has two owners. A round starts only when no process
// of an earlier round is left on its members.
std::unique_ptr<Checker> NewOwnerChecker(const Plan& plan);
// During the life of a coordinator, round numbers increase by one.
std::unique_ptr<Checker> NewRoundChecker(const Plan& plan);
// A member that stays keeps its rank, unless an explicit node rank takes it.
std::unique_ptr<Checker> NewStickyChecker(const Plan& plan);
// All nodes get the same verdict, and it is success only if all have succeeded.
// A node that never ran a worker never reports success.
std::unique_ptr<Checker> NewVerdictChecker(const Plan& plan);
// Each instant of an agent has one activity, and a job counts none twice.
std::unique_ptr<Checker> NewTimeChecker(const Plan& plan);
// The ranks of a world are dense, its members agree on it, and it has min to
// max nodes.
std::unique_ptr<Checker> NewWorldChecker(const Plan& plan);

// --- plans with takeovers only
// All final verdicts of all coordinators are the same. A time-out and a cancel
// are not final.
std::unique_ptr<Checker> NewOneVerdictChecker(const Plan& plan);
// No two coordinators have one epoch, and no agent obeys a lower epoch than it
// has promised or obeyed.
std::unique_ptr<Checker> NewPromiseChecker(const Plan& plan);
// No coordinator forgets a restart that was spent before a world began on all
// of its nodes, and a restart is spent only for a round with a failure.
std::unique_ptr<Checker> NewSpendingChecker(const Plan& plan);
// No two worlds run on all of their nodes at the same time, and once a world
// has, no world of an earlier coordinator does.
std::unique_ptr<Checker> NewSplitBrainChecker(const Plan& plan);
// While a majority of the newest world's nodes is left, and of the
// electorate's, another coordinator takes over in time.
std::unique_ptr<Checker> NewTakeoverTimeChecker(const Plan& plan);

// Returns checkers for one coordinator. The caller passes them the steps of
// other coordinators as OnOtherStep only.
std::vector<std::unique_ptr<Checker>> CoordinatorCheckers(const Plan& plan);
// The checkers of the whole simulation.
std::vector<std::unique_ptr<Checker>> AllCheckers(const Plan& plan);

}  // namespace muster::simulation

#endif  // MUSTER_TESTS_SIMULATION_CHECKERS_CHECKERS_H_
