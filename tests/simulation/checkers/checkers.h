#ifndef MUSTER_TESTS_SIMULATION_CHECKERS_CHECKERS_H_
#define MUSTER_TESTS_SIMULATION_CHECKERS_CHECKERS_H_

#include <memory>
#include <vector>

#include "tests/simulation/checker.h"
#include "tests/simulation/plan.h"

namespace muster::simulation {

// A coordinator without a record of the job continues a running round only
// after reports from a majority of the round's nodes. It gives the round up
// only if it has waited for one lease, or if no other node can report. The age
// of a continued job is at least the highest age that a node has reported.
std::unique_ptr<Checker> NewAdoptionChecker(const Plan& plan);
// A round breaks only for a cause that occurred in that round.
std::unique_ptr<Checker> NewAttributionChecker(const Plan& plan);
// The number of used restarts never exceeds the budget (max_restarts). Only
// failures use up restarts.
std::unique_ptr<Checker> NewBudgetChecker(const Plan& plan);
// An unfinished job and an agent that has not left always have a next deadline,
// which is in the future. A finished job has none.
std::unique_ptr<Checker> NewDeadlineChecker(const Plan& plan);
// A dead or silent node is removed within its lease. A node whose stream is
// broken is removed within the reconnect grace.
std::unique_ptr<Checker> NewDetectionChecker(const Plan& plan);
// When a hanging worker's deadline has passed, its agent takes its call stack,
// and the coordinator stops the round. A worker that hangs while its node stops
// is killed at the end of the grace period. Workers that send reports are not
// disturbed. The coordinator names only hanging workers as the cause.
std::unique_ptr<Checker> NewHangChecker(const Plan& plan);
// Once a newer incarnation of a node has appeared, the older one never takes
// part in a round again.
std::unique_ptr<Checker> NewIncarnationChecker(const Plan& plan);
// Each member of a new round has reported that it is healthy. Without
// takeovers, a member that the network check (a measurement between pairs of
// nodes) found bad is allowed only if fewer than min_nodes good members are
// there.
std::unique_ptr<Checker> NewHealthChecker(const Plan& plan);
// After an error of a GPU, the nodes are checked by pairs before the next round
// begins.
std::unique_ptr<Checker> NewSuspicionChecker(const Plan& plan);
// After the notice of a preemption the coordinator starts no round, and no node
// that knows of the notice starts workers. The job ends in time. Without
// takeovers, it does not succeed. A node that knows of the notice leaves in
// time even without a coordinator.
std::unique_ptr<Checker> NewPreemptionChecker(const Plan& plan);
// If a member of a new round is quarantined, the round has at most min_nodes
// members, and each ready node outside of it is quarantined too. Checked only
// in plans without takeovers.
std::unique_ptr<Checker> NewQuarantineChecker(const Plan& plan);
// For each rank of a round, only one node starts a worker. A round starts only
// when its members run no process of an earlier round.
std::unique_ptr<Checker> NewOwnerChecker(const Plan& plan);
// Round numbers of one coordinator increase by one.
std::unique_ptr<Checker> NewRoundChecker(const Plan& plan);
// A member that stays in the job keeps its group rank. Exception: a node with
// an explicit node rank gets this rank, even if another member had it.
std::unique_ptr<Checker> NewStickyChecker(const Plan& plan);
// All nodes get the same verdict. The verdict is success only if all nodes have
// succeeded. A node that never ran a worker never reports success.
std::unique_ptr<Checker> NewVerdictChecker(const Plan& plan);
// At each instant an agent has exactly one activity, and the job counts no
// agent's time twice.
std::unique_ptr<Checker> NewTimeChecker(const Plan& plan);
// The group ranks of a world are 0 to n - 1, and n is from min_nodes to
// max_nodes. The places that the members get are consistent: ranks, addresses,
// NCCL id and run tag.
std::unique_ptr<Checker> NewWorldChecker(const Plan& plan);

// --- invariants of plans with takeovers or etcd
// All final verdicts of all coordinators are the same. Success and failure are
// final; a time-out, a cancel and a preemption are not.
std::unique_ptr<Checker> NewOneVerdictChecker(const Plan& plan);
// With etcd: the epochs of the leaders grow. Once etcd has made a coordinator
// the leader, no earlier one may send a directive, whatever its clock shows. An
// agent gets directives of leaders only, and no coordinator continues a job
// without its record.
std::unique_ptr<Checker> NewLeaderChecker(const Plan& plan);
// No two coordinators have the same epoch. An agent obeys no coordinator whose
// epoch is lower than one that the agent has promised to obey, or has obeyed.
std::unique_ptr<Checker> NewPromiseChecker(const Plan& plan);
// Once a world has begun on all of its nodes, every later coordinator knows the
// restarts that were used before this world. A restart is used only for a round
// with a failure.
std::unique_ptr<Checker> NewSpendingChecker(const Plan& plan);
// No two worlds run on all of their nodes at the same time. Once a world has
// run on all of its nodes, no world of an earlier coordinator runs on all of
// its nodes.
std::unique_ptr<Checker> NewSplitBrainChecker(const Plan& plan);
// If the coordinator is lost, another one takes over in time. This is required
// only while a majority of the newest world's nodes and a majority of the nodes
// that elect a coordinator are alive.
std::unique_ptr<Checker> NewTakeoverTimeChecker(const Plan& plan);

// Returns the checkers that observe one coordinator. Report the steps of all
// other coordinators to these checkers by OnOtherStep only.
std::vector<std::unique_ptr<Checker>> CoordinatorCheckers(const Plan& plan);
// Returns the checkers that observe the whole simulation.
std::vector<std::unique_ptr<Checker>> AllCheckers(const Plan& plan);

}  // namespace muster::simulation

#endif  // MUSTER_TESTS_SIMULATION_CHECKERS_CHECKERS_H_
