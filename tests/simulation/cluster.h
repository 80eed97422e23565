#ifndef MUSTER_TESTS_SIMULATION_CLUSTER_H_
#define MUSTER_TESTS_SIMULATION_CLUSTER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/simulation/fault_injector.h"
#include "tests/simulation/network.h"
#include "tests/simulation/room_watch.h"
#include "tests/simulation/sim_coordinator.h"
#include "tests/simulation/sim_node.h"
#include "tests/simulation/stage.h"

namespace muster::simulation {

// A whole cluster from one seed, in three phases:
//   1  a minute in which the plan's faults happen;
//   2  all is healed: the job must run a full, legal world within a bound, or
//      have ended, with nobody left behind;
//   3  the workers succeed: the job must succeed, everywhere.
class Cluster {
 public:
  Cluster(uint64_t seed, Trace::Echo echo);

  // Empty if every invariant held.
  std::string Run();

  const Stage& stage() const { return stage_; }

 private:
  Network::Ends Ends();
  void Tick();
  // Why the cluster has not settled yet; empty if it has.
  std::string Unsettled() const;
  // Whether it waits for the end of the node that has its node rank.
  bool WaitsForPlace(const SimNode& node) const;
  std::string OutOfPlace(const SimNode& node,
                         const rendezvous::JobStatus& status) const;
  bool Finished() const;
  void ReplaceTheMissing();
  // Lets time pass until `settled` returns an empty string; fails with what it
  // returned last if that takes longer than `bound`.
  void Await(const char* what, Duration bound,
             const std::function<std::string()>& settled);
  std::string Succeeded() const;

  Stage stage_;
  Network network_;
  SimCoordinator coordinator_;
  std::vector<std::unique_ptr<SimNode>> nodes_;
  FaultInjector faults_;
  const RoomWatch* room_ = nullptr;  // one of the stage's checkers
  size_t next_started_ = 0;
};

}  // namespace muster::simulation

#endif  // MUSTER_TESTS_SIMULATION_CLUSTER_H_
