#ifndef MUSTER_RENDEZVOUS_JOB_JOB_LEDGER_H_
#define MUSTER_RENDEZVOUS_JOB_JOB_LEDGER_H_

#include <array>
#include <map>
#include <string>
#include <vector>

#include "rendezvous/protocol/time_ledger.h"

namespace muster::rendezvous {

// Sums how a job's nodes have spent their time (NodeTime), and the costs of
// rounds that ended early. Pure. Every call is O(1) in the number of nodes,
// unless noted.
class JobLedger {
 public:
  JobLedger() = default;
  // Continues with the totals `time` that JobLedger::Without has returned.
  explicit JobLedger(const JobTime& time);

  // Updates the totals for a node: subtracts `before`, the NodeTime in its
  // previous report, and adds `told`, the NodeTime in its new report.
  void Tell(const NodeTime& before, const NodeTime& told);
  // Records that the round `round` has ended early, and for which cause.
  // `host`: host of the blamed node; may be empty. `why`: the reason as text. A
  // second call for the same round changes nothing.
  void Count(int round, LossCause cause, const std::string& host,
             const std::string& why);

  // Returns the totals so far. `round`: the newest round. If nodes lost time in
  // an earlier round for which Count was not called, the cause of the loss is
  // given as unknown.
  JobTime Read(int round) const;
  // Returns the totals as Read does, but without `nodes`, the newest NodeTimes
  // of the job's current nodes: these nodes will report their time again to the
  // next coordinator. O(n).
  JobTime Without(const std::vector<const NodeTime*>& nodes, int round) const;

 private:
  struct Entry {
    bool is_counted = false;
    Incident incident;
  };
  // Adds an incident to the sums of the older rounds.
  void Age(const Incident& incident);
  // Returns the entry of the round, and creates it if needed. Null: the round
  // is too old (not among the kMaxIncidents newest ones).
  Entry* EntryOf(int round);
  void Add(const NodeTime& told, int sign);

  // Time spent on each activity, in whole microseconds: a double holds such
  // sums exactly up to 285 years, and cannot overflow.
  std::array<double, kActivities> spent_us_ = {};
  // By round: the newest rounds in which nodes lost time, at most
  // kMaxIncidents.
  std::map<int, Entry> newest_;
  // Sums for the older rounds, which are no longer in `newest_`, by LossCause.
  // Includes only the rounds that Count has recorded.
  std::array<JobTime::Sum, kLossCauses> older_ = {};
  // The part of `older_` of each blamed host; at most kMaxLossHosts. If there
  // are more hosts, the one with the shortest pause is removed.
  std::vector<JobTime::HostLosses> older_by_host_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOB_JOB_LEDGER_H_
