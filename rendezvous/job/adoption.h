#ifndef MUSTER_RENDEZVOUS_JOB_ADOPTION_H_
#define MUSTER_RENDEZVOUS_JOB_ADOPTION_H_

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "rendezvous/job/recount.h"
#include "rendezvous/job/world.h"
#include "rendezvous/protocol/report.h"

namespace muster::rendezvous {

// Adoption: a new coordinator without a record of the job continues a round
// that an earlier coordinator began. This class collects the newest report of
// each node. Once a majority of the newest round's nodes have reported, it
// decides to adopt that round. At the deadline it gives the round up. Pure.
//
// A minority is not enough. It may be left over from a world that the job has
// already replaced by a world without these nodes.
//
// If other nodes may take over, a round goes on only if it has certainly begun
// on all of its nodes. This is so for the round of the electorate (the nodes
// that elect a coordinator), and for a later round if all of its nodes have
// reported. Another later round is adopted, but stopped at once.
class Adoption {
 public:
  enum class Decision {
    kWait,
    kAdopt,
    kStop,  // adopt the round, and stop it at once
    kGiveUp,
  };

  // Starts collecting reports until `deadline`. Only the first call has an
  // effect.
  void Begin(Instant deadline);
  bool pending() const { return stage_ == Stage::kPending; }
  // Postpones the deadline to `now` + `lease`, at most once. Called if the
  // coordinator's process was suspended and so read no reports. No effect
  // unless the adoption is pending.
  void ForgiveStandstill(Instant now, Duration lease);
  Instant deadline() const { return deadline_; }

  // Stores a node's report, which replaces the node's earlier report. O(log n).
  void Hear(const Report& report);
  // Records that a node is lost or has left: its newest report moves from
  // Collected::come (nodes in the job) to Collected::gone.
  void Forget(const std::string& node_id);
  // Whether the node runs processes of a round that this coordinator may still
  // adopt.
  bool Holds(const std::string& node_id) const;

  // Whether Decide must be called now: the deadline has passed, or the reports
  // must be counted again (see Recount).
  bool IsDue(Instant now) const {
    return now >= deadline_ || recount_.IsDue(now);
  }
  // The time of the next call of Decide.
  Instant NextDeadline() const {
    return std::min(recount_.Deadline().value_or(deadline_), deadline_);
  }
  // Returns the decision for the reports so far. O(n log n) for n reports.
  Decision Decide(Instant now);
  // The result of End: the newest reports by node id. `come`: of nodes that
  // have reported and are still in the job. `gone`: of nodes that were lost or
  // left after their report; a node that returned later is in `come`, too.
  // Reports in `gone` are kept because they may be the only ones that contain
  // the newest round and electorate.
  struct Collected {
    std::map<std::string, Report> come;
    std::map<std::string, Report> gone;

    // Pointers to all reports. They are valid as long as this object.
    std::vector<const Report*> All() const;
  };
  Collected End();

  // What the newest call of Decide has counted. `round`: the newest round in
  // the reports. `world`: the number of nodes in that round's world. `come`:
  // the number of these nodes that have reported. `members`: the node ids of
  // that world (Place::members). If no node has a place: 0, and the node ids of
  // the electorate.
  struct Progress {
    int round = 0;
    int world = 0;
    int come = 0;
    std::vector<std::string> members;
  };
  const Progress& progress() const { return progress_; }

 private:
  enum class Stage { kNotBegun, kPending, kOver };

  Stage stage_ = Stage::kNotBegun;
  Instant deadline_;
  bool forgiven_ = false;
  Recount recount_;
  Progress progress_;
  Collected collected_;
};

// Whether two places belong to one world of one round.
bool IsSameWorld(const Place& a, const Place& b);

// Whether the stop order `a` takes precedence over the stop order `b`. Both
// ended the same round: several coordinators may have ended a round in
// different ways, each on some of its nodes. The order of the coordinator with
// the higher epoch takes precedence, because only that coordinator can have
// reached a majority. Of two orders of one coordinator, the later one takes
// precedence. Exception: a cancel, the wish of a user, takes precedence over
// every order after which another round follows.
bool Replaces(const RoundEnd& a, const RoundEnd& b);
// Whether the report contains a stop order that ended the round of `world`, or
// a later round. The node need not belong to that world. A coordinator tells
// each elector how the job ends, also an elector that has no place, or one in
// an older world.
bool TellsEndOf(const WorldId& world, const Report& report);
// Several reports may contain a stop order that ended the round of `world`.
// Returns the report with the newest of these orders. Exception: if another
// round follows after that order and some report contains a cancel, returns the
// report with the newest cancel. null: no report contains such an order. O(n).
const Report* EndThatCounts(const WorldId& world,
                            const std::vector<const Report*>& reports);

// Builds the world of the newest round from the nodes' reports. Members that
// have not reported have an empty node id; their host and incarnation are the
// node id and the incarnation that the reports list (Place::members), or "" and
// 0. The world has no NCCL id and no store
// clients, because reports do not contain them.
//
// `newest`: the newest electorate that any node knows.
World WorldOf(const std::map<std::string, Report>& reports,
              const Electorate& newest);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOB_ADOPTION_H_
