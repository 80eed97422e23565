#ifndef MUSTER_TESTS_SIMULATION_FAULT_INJECTOR_H_
#define MUSTER_TESTS_SIMULATION_FAULT_INJECTOR_H_

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "tests/simulation/checker.h"
#include "tests/simulation/network.h"
#include "tests/simulation/sim_coordinator.h"
#include "tests/simulation/sim_daemon.h"
#include "tests/simulation/sim_etcd.h"
#include "tests/simulation/sim_node.h"
#include "tests/simulation/stage.h"

namespace muster::simulation {

// Injects faults at random, five times per simulated second.
class FaultInjector {
 public:
  FaultInjector(Stage* stage, Network* network,
                std::vector<std::unique_ptr<SimCoordinator>>* coordinators,
                std::vector<std::unique_ptr<SimNode>>* nodes, SimEtcd* etcd,
                std::vector<std::unique_ptr<SimDaemon>>* daemons)
      : stage_(stage),
        network_(network),
        coordinators_(coordinators),
        nodes_(nodes),
        etcd_(etcd),
        daemons_(daemons) {}

  void Begin();
  // The time until which no fault happens.
  Instant calm_until() const { return calm_until_; }
  // Undoes the faults that can be undone; no further faults happen.
  void Heal();
  // Called when a worker has crashed. Makes other workers of its round crash as
  // well, with the plan's probability.
  void Spread(const WorkerModel& crashed);
  // Returns an observer that sometimes kills the node of a coordinator shortly
  // after the coordinator has ordered a round. At this time, some nodes may
  // have begun the round and others not. The nodes of the round do not know yet
  // that they are the new electorate.
  std::unique_ptr<Checker> NewRoundWatch();

 private:
  void RoundBegan(int host);
  void Tick();
  void TroubleNode(SimNode& node);
  void TroubleNetwork(SimNode& node);
  void Revive(SimNode& node);
  // Whether the agent that has ended on this node stays ended until the faults
  // end. Drawn once for each agent.
  bool StaysAway(const SimNode& node);
  void ClogSome();
  void RestartCoordinator();
  // At random, kills or suspends the node of the newest coordinator, and
  // divides the network. Called only in plans with takeovers, in which nodes
  // host the coordinators.
  void TroubleTakeover();
  // At random, ends, suspends and cuts off daemons and etcd. Called only in
  // plans with etcd.
  void TroubleDaemons();
  void TroubleEtcd();
  // Tells the checkers that any node may be considered lost.
  void NoteTroubleEverywhere();
  // Returns the daemon to which the next fault happens: half of the time the
  // leader, if there is one. Null: a daemon that is not running was drawn.
  SimDaemon* DrawDaemon();
  // Returns the node whose process hosts the newest coordinator. Null: there is
  // no coordinator, or its job has ended. In an ended job this node must not be
  // killed, because only it knows the verdict.
  SimNode* CoordinatingNode() const;
  void Kill(SimNode& node, Network::Death how);
  void Pause(SimNode& node, Duration duration);
  void Partition();
  void CtrlC(SimNode& node);
  void Preempt(SimNode& by);

  Stage* const stage_;
  Network* const network_;
  std::vector<std::unique_ptr<SimCoordinator>>* const coordinators_;
  std::vector<std::unique_ptr<SimNode>>* const nodes_;
  SimEtcd* const etcd_;
  std::vector<std::unique_ptr<SimDaemon>>* const daemons_;
  Instant calm_until_;
  // For each slot whose agent has ended: this agent's incarnation, and whether
  // the slot gets no new agent before the faults end.
  std::map<int, std::pair<uint64_t, bool>> away_;
};

}  // namespace muster::simulation

#endif  // MUSTER_TESTS_SIMULATION_FAULT_INJECTOR_H_
