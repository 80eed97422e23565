#ifndef MUSTER_TESTS_SIMULATION_SIM_COORDINATOR_H_
#define MUSTER_TESTS_SIMULATION_SIM_COORDINATOR_H_

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rendezvous/job/job.h"
#include "rendezvous/takeover/standby.h"
#include "tests/simulation/network.h"
#include "tests/simulation/stage.h"

namespace muster::simulation {

// Drives one real Job as the coordinator does. Outside of the nodes, the first
// report creates the Job; a crash of the coordinator deletes it with all its
// state, except for the record of Plan::journal. Inside of a node's process
// (Plan::takeover) it stands by until it is elected, and again once it is
// deposed; it lives and dies with the process.
class SimCoordinator {
 public:
  // What passes between coordinators, from the one in slot `from` to the one at
  // `to`.
  struct Exchange {
    // Announces that `from` coordinates the job.
    std::function<void(int from, const std::string& to, uint64_t epoch)> tell;
    // Sends a request for the endpoint of the job's coordinator. A coordinator
    // that gets it answers with an announcement (`tell`).
    std::function<void(int from, const std::string& to)> ask;
    // Announces that `nodes` nodes without a coordinator have gathered at
    // `from`.
    std::function<void(int from, const std::string& to, int nodes)> meet;
  };
  // `host`: the slot of the process, or kOutside. `may_found`: whether the
  // coordinator in this slot may begin the job with nodes that know of none.
  SimCoordinator(Stage* stage, Network* network, int host, Exchange exchange,
                 std::function<bool(int host)> may_found)
      : stage_(stage),
        network_(network),
        host_(host),
        exchange_(std::move(exchange)),
        may_found_(std::move(may_found)),
        up_(host == kOutside) {}

  int host() const { return host_; }
  Network::Process process() const;
  bool up() const { return up_; }
  // The job that is driven; null before the first report.
  const rendezvous::Job* job() const { return job_.get(); }
  uint64_t epoch() const { return epoch_; }

  void Attach(rendezvous::StreamId stream, AgentName agent);
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

  // --- inside of a node's process
  // The process has started an agent.
  void Begin();
  // The process has died.
  void Die(Network::Death how);
  void Pause();
  void Resume();
  // The process's agent has the coordinator `leader`; nullopt: none.
  void Follow(const std::optional<rendezvous::Standby::Leader>& leader);
  // The agent has been told where to look for a coordinator.
  void SetStandbys(std::vector<std::string> standbys) {
    standbys_ = std::move(standbys);
  }
  // Nodes without a coordinator have gathered elsewhere.
  void Meet(const rendezvous::Standby::Assembly& other);
  // Another coordinator announces that it coordinates the job.
  void Told(uint64_t epoch, const std::string& endpoint);
  // Another coordinator asks who coordinates the job. Calls `tell` if this one
  // knows.
  void Asked(const std::function<void(uint64_t epoch,
                                      const std::string& endpoint)>& tell);
  // The agent has left. A coordinator stays while other nodes need it.
  void AgentLeft();

 private:
  // Handles `event` now, or once the process is no longer suspended, unless it
  // has died before.
  void Post(std::function<void()> event);
  void Hear(rendezvous::StreamId stream, const rendezvous::Report& report);
  void StandBy(rendezvous::Standby::Kind kind);
  void Perform(const rendezvous::Standby::Step& step);
  void TakeOver(uint64_t epoch);
  void StartJob(const rendezvous::Report& report);
  void StopJob();
  void NoteSent(int slot, const rendezvous::Delivery& delivery);
  bool Announces() const;
  void AnnounceAgain(uint64_t life);
  // Sends the announcements that are due.
  void AnnounceNow();
  void CloseWhenDeserted(uint64_t life);
  void Step(const rendezvous::JobEvent& event);
  void Arm(std::optional<Instant> deadline);

  Stage* const stage_;
  Network* const network_;
  const int host_;
  const Exchange exchange_;
  const std::function<bool(int host)> may_found_;
  // Crashes if that was asked for `moment`; returns whether it has.
  bool CrashesAt(Moment moment);

  bool up_;
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

  // --- inside of a node's process
  std::unique_ptr<rendezvous::Standby> standby_;  // null while it coordinates
  uint64_t life_ = 0;  // number of starts and ends of the process
  // Whether nodes that knew another coordinator have elected this one.
  bool took_over_ = false;
  std::optional<rendezvous::Standby::Leader>
      followed_;                       // by this process's agent
  std::vector<std::string> standbys_;  // known to this process's agent
  bool paused_ = false;
  bool without_power_ = false;
  bool agent_left_ = false;
  std::deque<std::function<void()>> inbox_;  // events while suspended
  Instant attended_;  // the last time at which a stream was open
};

// Returns "c3" for slot 3, and "c" for the coordinator outside of the nodes.
std::string EndpointOf(int host);
int HostOf(const std::string& endpoint);

// The coordinator with the job that was elected last; null if there is none.
// The one outside of the nodes, whether it has a job or not.
SimCoordinator* NewestOf(
    const std::vector<std::unique_ptr<SimCoordinator>>& coordinators);

}  // namespace muster::simulation

#endif  // MUSTER_TESTS_SIMULATION_SIM_COORDINATOR_H_
