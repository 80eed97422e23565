#ifndef MUSTER_TESTS_SIMULATION_SIM_NODE_H_
#define MUSTER_TESTS_SIMULATION_SIM_NODE_H_

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "agent/lifecycle/lifecycle.h"
#include "tests/simulation/network.h"
#include "tests/simulation/sim_clock.h"
#include "tests/simulation/sim_coordinator.h"
#include "tests/simulation/stage.h"
#include "tests/simulation/worker_model.h"

namespace muster::simulation {

// One node of the simulation, on which at most one agent runs at a time. The
// agent is the real Lifecycle, driven as in agent.cc, with a model of its
// workers. The agent can be killed, suspended and started again.
class SimNode {
 public:
  // `own`: the coordinator in the same process; null: the process has none.
  SimNode(Stage* stage, Network* network, int slot, SimCoordinator* own);

  int slot() const { return slot_; }
  bool alive() const { return lifecycle_ != nullptr; }
  bool paused() const { return paused_; }
  AgentName name() const { return {slot_, incarnation_}; }
  const agent::Lifecycle* lifecycle() const { return lifecycle_.get(); }
  WorkerModel* workers() { return workers_; }
  rendezvous::StreamId stream() const { return stream_; }
  // Whether the agent's last report contained the electorate (the nodes that
  // elect a new coordinator) or a place in a round.
  bool knows_round() const { return alive() && knows_round_; }
  // How the slot's last agent has left the job; nullopt: it was killed.
  const std::optional<agent::Leave>& last_leave() const { return last_leave_; }

  void StartAgent();
  void Kill(Network::Death how);
  void Pause();
  void Resume();
  void LoseGuardian();
  void Catch(int signal);
  // The NVIDIA driver reports a hardware error of a GPU.
  void FailGpu();

  // --- called by the network
  void Connected(rendezvous::StreamId stream);
  void DialFailed();
  void Came(rendezvous::StreamId stream,
            const rendezvous::Directive& directive);
  void Broken(rendezvous::StreamId stream);

  std::function<void(const WorkerModel&)> on_crash;

 private:
  void Post(const agent::LifecycleEvent& event);
  void Step(const agent::LifecycleEvent& event);
  void Perform(const agent::LifecycleStep& step);
  void Arm();
  // Begins an attempt to reach a coordinator: tries the host that answered
  // last, then the other known hosts, each once.
  void Dial();
  void DialFrom(int first);
  // Returns the hosts of the configured endpoint, of the coordinator that
  // answered last, and of the standbys.
  std::vector<int> KnownHosts() const;
  void Reconnect(const agent::Reconnect& reconnect);
  void Follow(const agent::LifecycleEvent& event,
              const agent::LifecycleStep& step);
  void End();
  // Creates a new NCCL id for the next world and reports it to the agent after
  // a short delay.
  void RenewNcclId();
  std::string NewNcclId();
  void Announce();
  void CheckHealth(uint64_t check);
  void MeasurePair(const agent::MeasurePair& action);

  // The agent's clock.
  Instant Now() const { return clock_.Read(stage_->queue.now()); }
  // The simulated time of the agent's next deadline.
  std::optional<Instant> NextDeadline() const;
  // The host number of the coordinator that a new agent tries first.
  int FirstHost() const;

  Stage* const stage_;
  Network* const network_;
  const int slot_;
  SimClock clock_;
  uint64_t starts_ = 0;
  uint64_t incarnation_ = 0;
  std::unique_ptr<agent::Lifecycle> lifecycle_;
  // The simulated workers of every agent that this slot has had, including
  // ended agents: events that are scheduled may still refer to these workers.
  std::vector<std::unique_ptr<WorkerModel>> models_;
  WorkerModel* workers_ = nullptr;
  rendezvous::StreamId stream_ = 0;
  bool dialling_ = false;
  SimCoordinator* const own_;
  // The hosts at which this node looks for a coordinator, in the current
  // attempt to reach one. tried_: how many of these hosts have failed to
  // answer. answered_: the host that answered last.
  std::vector<int> attempt_;
  size_t tried_ = 0;
  int answered_ = 0;
  int leader_ = 0;  // the host whose coordinator sent `standbys_`
  // hosts of the standbys that the coordinator has named most recently
  std::vector<int> standbys_;
  uint64_t redials_ = 0;  // number of requests to reconnect so far
  // A stream to a coordinator. `host`: the slot (number) of the node in whose
  // process the coordinator runs; kOutside: it runs outside of the nodes.
  struct Up {
    rendezvous::StreamId stream = 0;
    int host = kOutside;
  };
  // connected streams whose LinkUp events the agent has not handled yet
  std::deque<Up> coming_up_;
  // stream on which the agent sends its reports: that of the last LinkUp event
  // that the agent has handled
  Up talking_on_;
  Duration backoff_ = Duration::zero();
  bool knows_round_ = false;
  // Epoch of the coordinator that sent the newest directive. Exception: if this
  // coordinator continues an earlier one's journal, the epoch of the
  // coordinator that began the journal. Not used in plans with takeovers.
  uint64_t told_epoch_ = 0;
  int nccl_ids_ = 0;  // number of NCCL ids that this slot has made
  std::string held_nccl_id_;
  int announcement_ = 0;  // number of the newest announcement of a preemption
  // number of the last requested health check; 0: the agent waits for none
  uint64_t wanted_check_ = 0;
  // number of the newest measurement; increased as well when a measurement is
  // dropped, so that its late result is ignored
  uint64_t wanted_measurement_ = 0;
  bool paused_ = false;
  // events that arrived while the agent is suspended
  std::deque<agent::LifecycleEvent> inbox_;
  std::optional<Instant> armed_;
  std::optional<agent::Leave> last_leave_;
};

}  // namespace muster::simulation

#endif  // MUSTER_TESTS_SIMULATION_SIM_NODE_H_
