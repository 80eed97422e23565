#ifndef MUSTER_TESTS_SIMULATION_SIM_DAEMON_H_
#define MUSTER_TESTS_SIMULATION_SIM_DAEMON_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "rendezvous/etcd/leadership.h"
#include "rendezvous/journal/pending_records.h"
#include "tests/simulation/sim_clock.h"
#include "tests/simulation/sim_coordinator.h"
#include "tests/simulation/sim_etcd.h"
#include "tests/simulation/stage.h"

namespace muster::simulation {

// One rendezvousd of several that share their state in etcd. The election is
// the real Leadership and the queue of records the real PendingRecords, both
// driven as in LeaderElection and Journal. While the daemon leads, its
// coordinator (SimCoordinator) runs the job.
class SimDaemon {
 public:
  // `number`: counts the daemons, from 0. `elected`: called when etcd has made
  // this daemon the leader, before the daemon knows it.
  SimDaemon(Stage* stage, SimEtcd* etcd, SimCoordinator* coordinator,
            int number, std::function<void(uint64_t epoch)> elected)
      : stage_(stage),
        etcd_(etcd),
        coordinator_(coordinator),
        number_(number),
        elected_(std::move(elected)) {}

  int number() const { return number_; }
  bool alive() const { return core_ != nullptr; }
  bool paused() const { return paused_; }
  // Whether the daemon leads now, or would lead if it were not suspended: on
  // its own clock, its lease has not ended.
  bool leads() const { return alive() && core_->Leads(Now()); }
  uint64_t epoch() const { return epoch_; }

  void Start();
  void Kill();
  // Ends the daemon as SIGTERM does: a leader gives the lock back.
  void Terminate();
  void Pause();
  void Resume();

 private:
  Instant Now() const { return clock_.Read(stage_->queue.now()); }
  // The daemon's wall clock: time since 1970.
  Duration WallTime() const;
  // Handles `event` now, or after the process's suspension. Drops it if the
  // process dies or begins another turn meanwhile.
  void Post(uint64_t turn, std::function<void()> event);
  // Handles `event` when the daemon's clock shows `when`.
  void At(Instant when, std::function<void()> event);
  // Calls etcd. If no answer has come after `timeout`, calls `fail` and ignores
  // a later answer.
  void Call(Duration timeout, const SimEtcd::Request& request,
            const std::function<void()>& fail);
  // Begins a new turn: the daemon stands by in a new election.
  void StandBy();
  void Look();
  void Send(rendezvous::Leadership::Request request);
  void Claim();
  void Renew();
  // Reads the record, and makes the coordinator continue the job.
  void Open();
  void EndTurn();
  void GiveBack();
  void Put(SimEtcd::Kept kept);
  // Begins the next write if one is due.
  void Write();
  // Writes the record that is due. `after`: revision of the newest write.
  void Commit(int64_t after);
  void WriteFailed(const char* why);
  void Written();

  Stage* const stage_;
  SimEtcd* const etcd_;
  SimCoordinator* const coordinator_;
  const int number_;
  const std::function<void(uint64_t epoch)> elected_;
  SimClock clock_;
  Duration wall_offset_ = Duration::zero();
  bool paused_ = false;
  std::deque<std::function<void()>> inbox_;
  // number of starts, ends and elections of the process so far
  uint64_t turn_ = 0;
  std::unique_ptr<rendezvous::Leadership> core_;  // null: the process is dead
  bool serves_ = false;  // whether the coordinator has begun this turn
  uint64_t seen_epoch_ = 0;
  uint64_t epoch_ = 0;
  std::optional<Instant> armed_;
  uint64_t calls_ = 0;       // number of calls of etcd so far
  std::set<uint64_t> open_;  // numbers of the calls without an answer
  std::unique_ptr<rendezvous::PendingRecords> pending_;
  // The records in pending_, by their number. PendingRecords has this number as
  // the record's text.
  std::map<int, SimEtcd::Kept> records_;
  std::deque<uint64_t> waiting_;  // changes whose end Put's caller waits for
  std::optional<Instant> write_armed_;
  // As EtcdRecords::newest_write_: the revision of the newest write; nullopt:
  // unknown.
  std::optional<int64_t> newest_write_;
};

}  // namespace muster::simulation

#endif  // MUSTER_TESTS_SIMULATION_SIM_DAEMON_H_
