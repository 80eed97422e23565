#ifndef MUSTER_TESTS_SIMULATION_SIM_NODE_H_
#define MUSTER_TESTS_SIMULATION_SIM_NODE_H_

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "agent/lifecycle/lifecycle.h"
#include "tests/simulation/network.h"
#include "tests/simulation/stage.h"
#include "tests/simulation/worker_model.h"

namespace muster::simulation {

// One slot for agents: the real Lifecycle, driven as in agent.cc, with modelled
// workers. An agent can be killed, suspended and started again.
class SimNode {
 public:
  SimNode(Stage* stage, Network* network, int slot);

  int slot() const { return slot_; }
  bool alive() const { return lifecycle_ != nullptr; }
  bool paused() const { return paused_; }
  AgentName name() const { return {slot_, incarnation_}; }
  const agent::Lifecycle* lifecycle() const { return lifecycle_.get(); }
  WorkerModel* workers() { return workers_; }
  rendezvous::StreamId stream() const { return stream_; }
  // How the last agent of this slot ended; nullopt if it was killed.
  const std::optional<agent::Leave>& last_leave() const { return last_leave_; }

  void StartAgent();
  void Kill(Network::Death how);
  void Pause();
  void Resume();
  void LoseGuardian();
  void Catch(int signal);

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
  void Dial();
  void End();
  // Makes the NCCL id that is offered for the next world, after a short delay.
  void RenewNcclId();
  std::string NewNcclId();
  void Announce();
  void CheckHealth(uint64_t check);

  Stage* const stage_;
  Network* const network_;
  const int slot_;
  uint64_t starts_ = 0;
  uint64_t incarnation_ = 0;
  std::unique_ptr<agent::Lifecycle> lifecycle_;
  // The models of earlier agents stay, since scheduled events may refer to
  // them.
  std::vector<std::unique_ptr<WorkerModel>> models_;
  WorkerModel* workers_ = nullptr;
  rendezvous::StreamId stream_ = 0;
  bool dialling_ = false;
  // Streams whose LinkUp has not been handled yet, and the stream whose LinkUp
  // was handled last. Reports are sent on the latter, since they answer its
  // directives.
  std::deque<rendezvous::StreamId> coming_up_;
  rendezvous::StreamId talking_on_ = 0;
  Duration backoff_ = Duration::zero();
  // Stage::memories of the newest directive's epoch
  uint64_t told_epoch_ = 0;
  int nccl_ids_ = 0;  // number of NCCL ids made by this slot
  std::string held_nccl_id_;
  int announcement_ = 0;  // number of the newest announcement
  // number of the health check that the agent waits for; 0: none
  uint64_t wanted_check_ = 0;
  bool paused_ = false;
  // events held while the agent is suspended
  std::deque<agent::LifecycleEvent> inbox_;
  std::optional<Instant> armed_;
  std::optional<agent::Leave> last_leave_;
};

}  // namespace muster::simulation

#endif  // MUSTER_TESTS_SIMULATION_SIM_NODE_H_
