#ifndef MUSTER_TESTS_SIMULATION_SIM_ETCD_H_
#define MUSTER_TESTS_SIMULATION_SIM_ETCD_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>

#include "rendezvous/etcd/leadership.h"
#include "rendezvous/job/job_record.h"
#include "rendezvous/quarantine/node_memory.h"
#include "tests/simulation/stage.h"

namespace muster::simulation {

// A model of etcd, with the keys that Muster's daemons share: the election's
// lock, the newest epoch, and the record of one job. Each change gets a higher
// revision than all earlier ones.
//
// Also keeps the events of the checkers that depend on a record, until etcd has
// stored the record (Tell). The checkers then see the job as if a decision that
// no record has, and that no agent has got, had never been made.
class SimEtcd {
 public:
  // The record of the job, and what else a write of it stores.
  struct Kept {
    rendezvous::JobRecord record;
    Duration written_at;  // on the writer's wall clock
    rendezvous::NodeMemory memory;
    // Number of the newest change of the record that the record has
    // (HeldResults::changes), counted from the begin of the writer's term.
    uint64_t changes = 0;
    // epoch of the coordinator that began the job
    uint64_t began = 0;
  };
  struct Keys {
    rendezvous::Leadership::Lock lock;
    uint64_t epoch = 0;
    std::optional<Kept> kept;
    int64_t written = 0;  // revision of the newest write of a record; 0: none
  };
  // A call of etcd: runs when the request reaches etcd, and returns a function
  // that runs when the answer reaches the caller.
  using Request = std::function<std::function<void()>()>;

  explicit SimEtcd(Stage* stage) : stage_(stage) {}

  // Sends a request of the daemon with number `daemon`. The request or its
  // answer may be lost or come late, even after the caller has given up.
  void Call(int daemon, const Request& request);

  // --- requests
  const Keys& keys() const { return keys_; }
  // Takes the lock if it is still `seen`. Returns the new term; nullopt: it has
  // changed.
  std::optional<int64_t> Claim(const rendezvous::Leadership::Lock& seen,
                               uint64_t epoch);
  // Renew and Release return false if another leader than that of `term` has
  // the lock.
  bool Renew(int64_t term);
  bool Release(int64_t term);
  // Stores the record if the lock is that of `term`, and the newest write is
  // still the one with the revision `after`. Returns the revision of this
  // write; nullopt: refused.
  std::optional<int64_t> Write(int64_t term, int64_t after, Kept kept);

  // Calls `pass` at once, or after the events that were told before and still
  // wait. `pass` waits until the record of `term` has the change number
  // `changes`; 0: for no record. Never calls `pass` if another leader has taken
  // the lock without this change. Stage::told_at is the time of the event.
  void Tell(int64_t term, uint64_t changes, std::function<void()> pass);

  // --- faults
  // For `duration`, loses requests of the daemon, or their answers, or both.
  enum class Lost { kRequests, kAnswers, kBoth };
  void Cut(int daemon, Lost lost, Duration duration);
  // For `duration`, etcd loses all requests and answers, as while its processes
  // are started again or elect a new leader.
  void Stop(Duration duration);
  // For `duration`, a share (per mille) of the messages takes up to `delay`, as
  // if one of etcd's members were slow.
  void Slow(Duration delay, int share, Duration duration);
  void Heal();

 private:
  struct Event {
    int64_t term = 0;
    uint64_t changes = 0;
    Instant when;
    std::function<void()> pass;
  };
  bool IsCut(int daemon, Lost lost) const;
  bool IsStored(const Event& event) const;
  Duration Delay();
  void Pass();

  Stage* const stage_;
  Keys keys_;
  int64_t revision_ = 0;
  std::deque<Event> events_;
  // the highest number of a stored change, by the term of the writer
  std::map<int64_t, uint64_t> stored_;
  bool passing_ = false;
  std::map<std::pair<int, Lost>, Instant> cuts_;  // the time at which each ends
  Instant stopped_until_;
  Instant slow_until_;
  Duration slowest_ = Duration::zero();
  int slow_share_ = 0;
};

}  // namespace muster::simulation

#endif  // MUSTER_TESTS_SIMULATION_SIM_ETCD_H_
