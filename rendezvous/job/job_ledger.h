#ifndef MUSTER_RENDEZVOUS_JOB_JOB_LEDGER_H_
#define MUSTER_RENDEZVOUS_JOB_JOB_LEDGER_H_

#include <array>
#include <map>
#include <string>
#include <vector>

#include "rendezvous/protocol/time_ledger.h"

namespace muster::rendezvous {

// Adds up the times of a job's nodes, and what the early ends of its rounds
// have cost. Pure. Every call is O(1) in the number of nodes, unless noted.
class JobLedger {
 public:
  JobLedger() = default;
  // Goes on with what another ledger's Without has returned.
  explicit JobLedger(const JobTime& time);

  // A node tells its time; `before`: what it had told before.
  void Tell(const NodeTime& before, const NodeTime& told);
  // The round has ended early. `host`: the blamed node's; may be empty. The
  // first cause of a round holds.
  void Count(int round, LossCause cause, const std::string& host,
             const std::string& why);

  // The times up to now. A round before `round`, the newest, to which nodes
  // have lost time but which was not counted has an unknown cause.
  JobTime Read(int round) const;
  // Read, without what these nodes have told: they will tell all of it again.
  // O(nodes).
  JobTime Without(const std::vector<const NodeTime*>& nodes, int round) const;

 private:
  struct Entry {
    bool is_counted = false;
    Incident incident;
  };
  // The entry of the round; null: the round is too old.
  Entry* EntryOf(int round);
  void Add(const NodeTime& told, int sign);

  // Microseconds, whole numbers: their sums are exact up to 285 years, and do
  // not overflow.
  std::array<double, kActivities> spent_us_ = {};
  std::map<int, Entry> newest_;  // at most kMaxIncidents, by round
  // the sums of older incidents, which were counted
  std::array<JobTime::Sum, kLossCauses> older_ = {};
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOB_JOB_LEDGER_H_
