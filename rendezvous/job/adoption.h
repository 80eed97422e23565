#ifndef MUSTER_RENDEZVOUS_JOB_ADOPTION_H_
#define MUSTER_RENDEZVOUS_JOB_ADOPTION_H_

#include <map>
#include <optional>
#include <string>

#include "base/time.h"
#include "rendezvous/job/world.h"
#include "rendezvous/protocol/report.h"

namespace muster::rendezvous {

// The adoption of a round that an earlier coordinator began and of which this
// coordinator has no record. Collects the newest report of each node that had a
// place in a round, until a majority of the newest round's nodes have come, or
// the deadline passes. Pure.
//
// A majority is needed because a minority may be the remains of a world from
// which the job went on without these nodes.
class Adoption {
 public:
  enum class Decision { kWait, kAdopt, kGiveUp };

  // Begins to collect. No effect after the first call.
  void Begin(Instant deadline);
  bool pending() const { return stage_ == Stage::kPending; }
  // Postpones the deadline to `now` + `lease`, once: while the coordinator
  // stood still, it read no report. No effect unless the adoption is pending.
  void ForgiveStandstill(Instant now, Duration lease);
  Instant deadline() const { return deadline_; }

  // Replaces the node's earlier report. O(log n).
  void Hear(const Report& report);
  void Forget(const std::string& node_id) { reports_.erase(node_id); }
  // Whether the node has processes of a round that may be adopted.
  bool Holds(const std::string& node_id) const;

  // O(n) of the number of reports.
  Decision Decide(Instant now) const;
  // Ends the collection, and returns the reports by node id.
  std::map<std::string, Report> End();

  // The newest round of the reports, the number of nodes in its world, and the
  // number of its nodes that have reported. All 0 without reports.
  struct Progress {
    int round = 0;
    int world = 0;
    int come = 0;
  };
  Progress progress() const;

 private:
  enum class Stage { kNotBegun, kPending, kOver };

  Stage stage_ = Stage::kNotBegun;
  Instant deadline_;
  bool forgiven_ = false;
  std::map<std::string, Report> reports_;  // newest reports by node id
};

// Whether two places belong to one world of one round.
bool IsSameWorld(const Place& a, const Place& b);

// The world of the newest round of these reports. Members that have not
// reported have an empty node id. The world has no NCCL id and no store
// clients, because reports do not contain them.
World WorldOf(const std::map<std::string, Report>& reports);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOB_ADOPTION_H_
