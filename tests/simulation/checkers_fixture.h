#ifndef MUSTER_TESTS_SIMULATION_CHECKERS_FIXTURE_H_
#define MUSTER_TESTS_SIMULATION_CHECKERS_FIXTURE_H_

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "tests/simulation/checkers/checkers.h"

namespace muster::simulation {

inline constexpr AgentName kZero = {.slot = 0, .incarnation = 1'000'001};
inline constexpr AgentName kOne = {.slot = 1, .incarnation = 2'000'001};

// Builds the events of a job with two nodes, n0 and n1, and passes them to the
// checker under test. Each node has one worker.
class CheckersTest : public ::testing::Test {
 protected:
  CheckersTest() {
    plan_.spec.min_nodes = 2;
    plan_.spec.max_nodes = 2;
    plan_.spec.max_restarts = 1;
    plan_.spec.keep_alive_interval = std::chrono::seconds(1);
    plan_.spec.reconnect_grace = std::chrono::milliseconds(500);
    plan_.slots = 2;
    plan_.hang_timeout = std::chrono::seconds(3);
  }

  void Use(std::unique_ptr<Checker> (*make)(const Plan&)) {
    checker_ = make(plan_);
    checker_->SetNow(now_);
    checker_->OnCoordinatorStarted(1);
    step_.epoch = 1;
    step_.next_deadline = now_ + std::chrono::seconds(1);
  }
  void Advance(Duration duration) {
    now_ += duration;
    checker_->SetNow(now_);
    step_.next_deadline = now_ + std::chrono::seconds(1);
  }

  static Sent Run(AgentName agent, int round, int rank) {
    Sent sent{.to = agent};
    sent.directive.kind = rendezvous::DirectiveKind::kRun;
    rendezvous::Place& place = sent.directive.place;
    place.round = round;
    place.group_rank = place.first_rank = rank;
    place.group_world_size = place.world_size = 2;
    place.master_address = "10.0.0.1";
    place.run_tag = "tag";
    place.master_port = 20000;
    if (rank == 0) {
      place.store_clients = {"10.0.0.1", "10.1.0.1", "10.0.0.2", "10.1.0.2"};
    }
    return sent;
  }
  static rendezvous::NodeStatus Node(AgentName agent, std::optional<int> rank) {
    rendezvous::NodeStatus node;
    node.node.node_id = "n" + std::to_string(agent.slot);
    node.node.host = "h" + std::to_string(agent.slot);
    node.node.incarnation = agent.incarnation;
    node.group_rank = rank;
    return node;
  }
  // Returns a step of the coordinator, in which it starts round number `round`
  // with the nodes n0 and n1.
  CoordinatorStepped Begin(int round) {
    CoordinatorStepped step = step_;
    step.status.round = round;
    step.status.phase = rendezvous::JobPhase::kRunning;
    step.status.nodes = {Node(kZero, 0), Node(kOne, 1)};
    step.decisions = {{.kind = "assign", .round = round}};
    step.sent = {Run(kZero, round, 0), Run(kOne, round, 1)};
    return step;
  }
  CoordinatorStepped Break(int round, const std::string& why) {
    CoordinatorStepped step = step_;
    step.status.round = round;
    step.status.phase = rendezvous::JobPhase::kStopping;
    step.status.nodes = {Node(kZero, 0), Node(kOne, 1)};
    step.decisions = {
        {.kind = "break",
         .round = round,
         .reason = "round " + std::to_string(round) + " is broken: " + why}};
    return step;
  }
  // Returns a step of an agent, in which the agent runs a stack tool on worker
  // `local_rank` of round 1.
  static agent::LifecycleStep Looking(int local_rank) {
    agent::LifecycleStep step;
    step.actions.emplace_back(
        agent::TakeStacks{.round = 1, .workers = {{local_rank, 1}}});
    return step;
  }
  // Returns a step in which an agent sends `signal` to worker `local_rank`;
  // nullopt: to all workers.
  static agent::LifecycleStep Signalling(int signal,
                                         std::optional<int> local_rank = {}) {
    agent::LifecycleStep step;
    step.actions.emplace_back(
        agent::SignalWorkers{.signal = signal, .local_rank = local_rank});
    return step;
  }
  static rendezvous::Report ReportOf(AgentName agent, uint64_t sequence) {
    rendezvous::Report report;
    report.node.node_id = "n" + std::to_string(agent.slot);
    report.node.incarnation = agent.incarnation;
    report.sequence = sequence;
    return report;
  }

  Plan plan_;
  Instant now_{std::chrono::hours(1)};
  CoordinatorStepped step_;
  std::unique_ptr<Checker> checker_;
};

}  // namespace muster::simulation

#endif  // MUSTER_TESTS_SIMULATION_CHECKERS_FIXTURE_H_
