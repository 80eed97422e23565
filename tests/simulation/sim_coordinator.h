#ifndef MUSTER_TESTS_SIMULATION_SIM_COORDINATOR_H_
#define MUSTER_TESTS_SIMULATION_SIM_COORDINATOR_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "rendezvous/job/job.h"
#include "tests/simulation/network.h"
#include "tests/simulation/stage.h"

namespace muster::simulation {

// Drives one real Job as the coordinator does. The first report creates the
// Job; a crash of the coordinator deletes it with all its state, except for the
// record of Plan::journal.
class SimCoordinator {
 public:
  SimCoordinator(Stage* stage, Network* network)
      : stage_(stage), network_(network) {}

  bool up() const { return up_; }
  // The job that is driven; null before the first report.
  const rendezvous::Job* job() const { return job_.get(); }
  uint64_t epoch() const { return epoch_; }

  void Attach(rendezvous::StreamId stream, AgentName agent) {
    agents_[stream] = agent;
  }
  void Receive(rendezvous::StreamId stream, const rendezvous::Report& report);
  void Closed(rendezvous::StreamId stream);
  void Drain(int slot);
  // A stranger elsewhere, who does not know the key of this slot's agent,
  // reports as its node. Fails the simulation if it gets the node's place.
  void Impersonate(int slot);
  void Crash();
  // Crashes at the next change of the record: before the record is durable, or
  // afterwards but before a node is told of the change.
  enum class Moment { kBeforeWrite, kAfterWrite };
  void CrashAtChange(Moment moment, std::function<void()> crashed);
  void Restart();

 private:
  void Step(const rendezvous::JobEvent& event);
  void Arm(std::optional<Instant> deadline);

  Stage* const stage_;
  Network* const network_;
  // Crashes if that was asked for `moment`; returns whether it has.
  bool CrashesAt(Moment moment);

  bool up_ = true;
  struct Kept {
    rendezvous::JobRecord record;
    Instant written_at;
  };
  std::optional<Kept> journal_;  // nullopt: no journal, or no record yet
  std::optional<Moment> crash_at_;
  std::function<void()> crashed_;
  uint64_t epoch_ = 1;
  std::unique_ptr<rendezvous::Job> job_;
  std::map<rendezvous::StreamId, AgentName> agents_;
  std::map<int, rendezvous::Report> last_reports_;  // keyed by slot
  uint64_t impostors_ = 0;                          // number of strangers
  rendezvous::StreamId impostor_stream_ = 0;        // 0: no stranger reports
  bool impostor_was_refused_ = false;
  std::optional<Instant> armed_;
};

}  // namespace muster::simulation

#endif  // MUSTER_TESTS_SIMULATION_SIM_COORDINATOR_H_
