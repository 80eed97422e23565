#ifndef MUSTER_TESTS_SIMULATION_CLUSTER_H_
#define MUSTER_TESTS_SIMULATION_CLUSTER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/simulation/fault_injector.h"
#include "tests/simulation/network.h"
#include "tests/simulation/room_watch.h"
#include "tests/simulation/sim_coordinator.h"
#include "tests/simulation/sim_daemon.h"
#include "tests/simulation/sim_etcd.h"
#include "tests/simulation/sim_node.h"
#include "tests/simulation/stage.h"

namespace muster::simulation {

// A whole cluster, generated from one seed, in three phases:
//   1  The plan's faults happen for a minute.
//   2  No more faults: the job must run a complete, legal world within a time
//      limit, or have ended on every node.
//   3  The workers succeed: the job must succeed on every node.
class Cluster {
 public:
  Cluster(uint64_t seed, Trace::Echo echo);

  // Returns the first breach of an invariant; empty if there is none.
  std::string Run();

  const Stage& stage() const { return stage_; }

 private:
  Network::Ends Ends();
  void AddCoordinator(int host);
  void AddDaemon(int number);
  // Tells the checkers which daemons take themselves for the leader.
  void CheckLeaders();
  SimCoordinator& CoordinatorAt(int host);
  // The newest coordinator; null if no coordinator has a job.
  const SimCoordinator* Newest() const { return NewestOf(coordinators_); }
  const rendezvous::Job* NewestJob() const;
  void Tick();
  // Why the cluster has not reached the state that phase 2 requires; empty if
  // it has reached this state.
  std::string Unsettled() const;
  // Whether the coordinator in node `host` may begin the job. True if `host` is
  // 0 and no node knows a round of the job.
  bool MayFound(int host) const;
  // Whether `node` waits until another node with the same node rank has ended.
  bool WaitsForPlace(const SimNode& node) const;
  std::string OutOfPlace(const SimNode& node,
                         const rendezvous::JobStatus& status) const;
  bool Finished() const;
  void ReplaceTheMissing();
  // Advances simulated time until `settled` returns an empty string. If that
  // takes longer than `bound`, the simulation fails with a message that has
  // `what` and the last string from `settled`.
  void Await(const char* what, Duration bound,
             const std::function<std::string()>& settled);
  std::string Succeeded() const;

  Stage stage_;
  Network network_;
  // All simulated coordinators: a single one outside of the nodes; with
  // Plan::takeover, one in the process of each node; with etcd, one in each
  // daemon.
  std::vector<std::unique_ptr<SimCoordinator>> coordinators_;
  std::vector<std::unique_ptr<SimNode>> nodes_;
  SimEtcd etcd_;
  std::vector<std::unique_ptr<SimDaemon>> daemons_;
  FaultInjector faults_;
  // For each coordinator, the checker that says whether a waiting node must be
  // admitted. Key: the number (slot) of the simulated process in which the
  // coordinator runs.
  std::map<int, const RoomWatch*> rooms_;
  size_t next_started_ = 0;
};

}  // namespace muster::simulation

#endif  // MUSTER_TESTS_SIMULATION_CLUSTER_H_
