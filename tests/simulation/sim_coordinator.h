#ifndef MUSTER_TESTS_SIMULATION_SIM_COORDINATOR_H_
#define MUSTER_TESTS_SIMULATION_SIM_COORDINATOR_H_

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "rendezvous/job/job.h"
#include "rendezvous/journal/held_results.h"
#include "rendezvous/quarantine/node_memory.h"
#include "rendezvous/takeover/standby.h"
#include "tests/simulation/network.h"
#include "tests/simulation/sim_clock.h"
#include "tests/simulation/sim_etcd.h"
#include "tests/simulation/stage.h"

namespace muster::simulation {

// Simulates one coordinator with the real Job.
//
// A coordinator outside of the nodes creates the Job at the first report. A
// crash deletes the Job with all its state, except for the record if the plan
// has a journal. A coordinator in a node's process (Plan::takeover) is a
// standby until nodes elect it, and again after it is deposed. It ends with the
// process. The coordinator of a daemon (SimDaemon) has a job only while the
// daemon leads (Lead).
class SimCoordinator {
 public:
  using Assembly = rendezvous::Standby::Assembly;
  // Sends messages from the coordinator in slot `from` to the coordinator at
  // the endpoint `to`.
  struct Exchange {
    // Sends the announcement that `from` coordinates the job.
    std::function<void(int from, const std::string& to, uint64_t epoch)> tell;
    // Announces that `from` coordinates the job without a majority, and asks
    // the coordinator at `to` which coordinator has the job. If that
    // coordinator knows, it answers with `tell`.
    std::function<void(int from, const std::string& to, uint64_t epoch)> ask;
    // Announces `assembly`: how many nodes without a coordinator have gathered
    // at a standby, and at which one.
    std::function<void(const std::string& to, const Assembly& assembly)> meet;
  };
  // `host`: the slot whose process hosts this coordinator, or kOutside.
  // `may_found`: whether the coordinator in a slot may begin the job with nodes
  // that know no round of it.
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
  // The job that this coordinator runs; null if it runs none.
  const rendezvous::Job* job() const { return job_.get(); }
  uint64_t epoch() const { return epoch_; }

  // Whether this is the coordinator of one of several daemons with etcd.
  bool shares_records() const { return stage_->plan.etcd(); }

  void Attach(rendezvous::StreamId stream, AgentName agent);
  void Receive(rendezvous::StreamId stream, const rendezvous::Report& report);
  void Closed(rendezvous::StreamId stream);
  void Drain(int slot);
  // Simulates a stranger on another machine that reports with the id of this
  // slot's node, but does not know the node's secret key. Fails the simulation
  // if the stranger gets the node's place.
  void Impersonate(int slot);
  void Crash();
  // The moment at which CrashAtChange makes the coordinator crash when its
  // record next changes. kBeforeWrite: before the record is written.
  // kAfterWrite: after the record is written, but before nodes are notified.
  // After the crash, CrashAtChange's `crashed` is called.
  enum class Moment { kBeforeWrite, kAfterWrite };
  void CrashAtChange(Moment moment, std::function<void()> crashed);
  void Restart();

  // --- for coordinators of daemons with etcd
  // The period for which the daemon leads.
  struct Term {
    int64_t number = 0;
    uint64_t epoch = 0;
    SimEtcd* etcd = nullptr;
    const SimClock* clock = nullptr;
    std::function<bool()> leads;  // whether the daemon may give orders now
    // Begins to write the record to etcd. The simulation calls RecordIsDurable
    // when the write has succeeded.
    std::function<void(SimEtcd::Kept)> put;
  };
  // Begins a term. `kept`: the record of the job; nullopt: there is no job yet.
  // `elapsed`: estimated time since the record was written.
  void Lead(Term term, std::optional<SimEtcd::Kept> kept, Duration elapsed);
  void EndTerm();
  void RecordIsDurable();

  // --- for coordinators in a node's process
  // Called when the process has started an agent.
  void Begin();
  // Called when the process has died.
  void Die(Network::Death how);
  void Pause();
  void Resume();
  // Called when the process's agent follows `leader` as its coordinator;
  // nullopt: none.
  void Follow(const std::optional<rendezvous::Standby::Leader>& leader);
  // Called when the agent has learned at which standbys it can look for a new
  // coordinator.
  void SetStandbys(std::vector<std::string> standbys) {
    standbys_ = std::move(standbys);
  }
  // Called when another standby announces how many nodes without a coordinator
  // have gathered at it.
  void Meet(const Assembly& other);
  // Called when another coordinator announces that it coordinates the job.
  void Told(uint64_t epoch, const std::string& endpoint,
            rendezvous::Backing backing);
  // Called when another coordinator asks which coordinator has the job. Calls
  // `tell` with the answer if this coordinator knows it.
  void Asked(const std::function<void(uint64_t epoch,
                                      const std::string& endpoint)>& tell);
  // Called with each directive that the agent in the same process receives from
  // the job's coordinator.
  void Learn(const rendezvous::Directive& directive);
  // Called when the agent in the same process has left the job. The coordinator
  // continues while other nodes need it.
  void AgentLeft();

 private:
  // Handles `event` now, or after the process's suspension. The event is
  // dropped if the process dies meanwhile.
  void Post(std::function<void()> event);
  void Hear(rendezvous::StreamId stream, const rendezvous::Report& report);
  void StandBy(rendezvous::Standby::Kind kind);
  void Perform(const rendezvous::Standby::Step& step);
  void TakeOver(uint64_t epoch);
  void StartJob(const rendezvous::Report& report);
  // Makes the new job continue from the record in the journal (Job::Recall).
  void Recall();
  // Removes the finished job's record from the journal, unless the job has
  // timed out. A job that has timed out may be continued.
  void ForgetRecord();
  // Fails the simulation if the job contradicts the record that it has
  // recalled.
  void CheckRecalled(const rendezvous::JobStatus& status);
  void StopJob();
  // If this coordinator ends while the network check of its job's nodes runs,
  // counts this event in Stage::census.
  void CountCheckCutShort();
  void NoteSent(int slot, const rendezvous::Delivery& delivery);
  // Fails the simulation if `directive` gives an agent that the earlier
  // coordinator has released a place in a new round.
  void CheckReleased(AgentName agent, const rendezvous::Directive& directive);
  bool Announces() const;
  void AnnounceAgain(uint64_t life);
  // Sends the announcements of this coordinator or standby to the coordinator
  // in slot 0 and to the other standbys that it knows.
  void AnnounceNow();
  void CloseWhenDeserted(uint64_t life);
  void Step(const rendezvous::JobEvent& event);
  using Deliveries = std::vector<rendezvous::Delivery>;
  // Describes a step for the checkers, and notes it in the trace.
  CoordinatorStepped Describe(const rendezvous::JobStep& step);
  // Passes a step of a daemon's job to the checkers once its record is stored,
  // and sends its directives once the daemon knows that.
  void Hold(const rendezvous::JobStep& step, CoordinatorStepped stepped);
  void Write();
  void Send(const Deliveries& deliveries);
  // Counts the decisions of a step of the coordinator with this epoch, and
  // notes a verdict.
  void Count(uint64_t epoch, const CoordinatorStepped& stepped);
  // Passes an event to the checkers of this coordinator: at once or, for the
  // coordinator of a daemon, after earlier events that wait for a record.
  void Tell(std::function<void(Checker&)> tell);
  // This coordinator's clock.
  Instant Now() const;
  // The host number under which the checkers know this coordinator.
  int WatchedAs() const { return shares_records() ? kOutside : host_; }
  // Sets epoch_ to the epoch of the job, which a node's report may have raised
  // before the first round.
  void FollowEpoch();
  // Records the machine faults of `step` in memory_. Then passes the new
  // judgement of the machines to the job, and adds the results to `step`.
  void Judge(rendezvous::JobStep& step);
  rendezvous::HostsJudged Judgement() const;
  void Arm(std::optional<Instant> deadline);

  Stage* const stage_;
  Network* const network_;
  const int host_;
  const Exchange exchange_;
  const std::function<bool(int host)> may_found_;
  // Crashes this coordinator if CrashAtChange was called with `moment`. Returns
  // whether it crashed.
  bool CrashesAt(Moment moment);

  bool up_;
  struct Kept {
    rendezvous::JobRecord record;
    Instant written_at;
  };
  // The job's record in the simulated journal; nullopt: this coordinator has no
  // journal, or has written no record yet.
  std::optional<Kept> journal_;
  // The record of an earlier coordinator from which the current job has
  // continued (Job::Recall); nullopt: none.
  std::optional<rendezvous::JobRecord> recalled_;
  // The highest epoch in the directives that the agent in this process has
  // received from the job's coordinator (Learn).
  uint64_t learned_epoch_ = 0;
  // The highest round and the highest number of used restarts in the directives
  // that were passed to Learn since this coordinator last wrote its record.
  // Learn adds both numbers to the record. So a job that continues from the
  // record must find at least these numbers in it.
  int learned_round_ = 0;
  int learned_restarts_ = 0;
  std::optional<Term> term_;  // nullopt: not a leading daemon's coordinator
  rendezvous::HeldResults<Deliveries> held_;
  // Epoch of the coordinator that began the job of this term; see
  // Stage::memories.
  uint64_t began_ = 0;
  std::optional<Moment> crash_at_;
  std::function<void()> crashed_;
  uint64_t epoch_ = 1;
  std::unique_ptr<rendezvous::Job> job_;
  std::map<rendezvous::StreamId, AgentName> agents_;
  // Key: a slot, the number of a simulated node. Value: its newest report.
  std::map<int, rendezvous::Report> last_reports_;
  uint64_t impostors_ = 0;  // number of strangers so far
  // stream of the stranger (a simulated attacker) whose report is being handled
  // now; 0: none
  rendezvous::StreamId impostor_stream_ = 0;
  bool impostor_was_refused_ = false;
  std::optional<Instant> armed_;
  // The recorded faults of the machines. They survive a crash only if this
  // coordinator runs outside of the nodes and has a journal.
  rendezvous::NodeMemory memory_;

  // --- for coordinators in a node's process
  // The standby in this process; null while the process coordinates the job.
  std::unique_ptr<rendezvous::Standby> standby_;
  uint64_t life_ = 0;  // number of starts and ends of the process so far
  // Whether this coordinator was elected by nodes that knew an earlier
  // coordinator.
  bool took_over_ = false;
  // The other coordinator to which this process's agent is connected; nullopt:
  // none.
  std::optional<rendezvous::Standby::Leader> followed_;
  // endpoints of the standbys that this process's agent knows
  std::vector<std::string> standbys_;
  // endpoints of other standbys that have announced themselves to this one
  std::set<std::string> met_;
  // the agents that the earlier coordinator has released, as it has handed over
  std::vector<rendezvous::Handover::Released> released_before_;
  bool paused_ = false;
  bool without_power_ = false;
  bool agent_left_ = false;
  // events that came while this coordinator was suspended (`paused_`), oldest
  // first; it handles them when it continues
  std::deque<std::function<void()>> inbox_;
  Instant attended_;  // last time at which a stream was open
};

// Returns the coordinator with the highest epoch among those whose job is
// unfinished. If all jobs are finished, returns the one with the highest epoch.
// Null: no coordinator has a job. If the only coordinator runs outside of the
// nodes, returns it even if it has no job.
SimCoordinator* NewestOf(
    const std::vector<std::unique_ptr<SimCoordinator>>& coordinators);

}  // namespace muster::simulation

#endif  // MUSTER_TESTS_SIMULATION_SIM_COORDINATOR_H_
