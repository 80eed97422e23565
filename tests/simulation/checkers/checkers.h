#ifndef MUSTER_TESTS_SIMULATION_CHECKERS_CHECKERS_H_
#define MUSTER_TESTS_SIMULATION_CHECKERS_CHECKERS_H_

#include <memory>
#include <vector>

#include "tests/simulation/checker.h"
#include "tests/simulation/plan.h"

namespace muster::simulation {

// A round ends only for a cause inside that round.
std::unique_ptr<Checker> NewAttributionChecker(const Plan& plan);
// Restarts never exceed the budget, and failures alone spend it.
std::unique_ptr<Checker> NewBudgetChecker(const Plan& plan);
// Nobody waits without a deadline, nor for one that has passed.
std::unique_ptr<Checker> NewDeadlineChecker(const Plan& plan);
// A dead or silent node leaves within its lease, one whose stream is broken
// within the reconnect grace.
std::unique_ptr<Checker> NewDetectionChecker(const Plan& plan);
// A worker that hangs is looked at when its deadline has passed, and its round
// is stopped for it; one that hangs while its node stops is killed when the
// grace is over; one that reports is left alone; the coordinator blames none
// that does not hang.
std::unique_ptr<Checker> NewHangChecker(const Plan& plan);
// Once an incarnation of a node has been followed by another, it never has a
// part again.
std::unique_ptr<Checker> NewIncarnationChecker(const Plan& plan);
// No round begins with a node that is not known to be fit.
std::unique_ptr<Checker> NewHealthChecker(const Plan& plan);
// After the notice of a preemption no round begins, on no node that knows of
// it; the job ends within what it is given, and not as a success. A node that
// knows of it leaves in time even without a coordinator.
std::unique_ptr<Checker> NewPreemptionChecker(const Plan& plan);
// A rank of a round has one owner, ever; a round begins only when none of its
// members has anything left of an earlier one.
std::unique_ptr<Checker> NewOwnerChecker(const Plan& plan);
// Within one life of the coordinator, rounds count up one by one.
std::unique_ptr<Checker> NewRoundChecker(const Plan& plan);
// Who stays keeps its rank, unless it must move.
std::unique_ptr<Checker> NewStickyChecker(const Plan& plan);
// All are told the same verdict, and success only where all have succeeded. A
// node that never ran a worker never reports success.
std::unique_ptr<Checker> NewVerdictChecker(const Plan& plan);
// A world is dense, agrees on itself, and has min to max nodes.
std::unique_ptr<Checker> NewWorldChecker(const Plan& plan);

std::vector<std::unique_ptr<Checker>> AllCheckers(const Plan& plan);

}  // namespace muster::simulation

#endif  // MUSTER_TESTS_SIMULATION_CHECKERS_CHECKERS_H_
