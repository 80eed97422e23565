#ifndef MUSTER_RENDEZVOUS_JOB_EARLIER_ROUND_H_
#define MUSTER_RENDEZVOUS_JOB_EARLIER_ROUND_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "rendezvous/job/world.h"
#include "rendezvous/protocol/directive.h"
#include "rendezvous/protocol/electorate.h"
#include "rendezvous/protocol/failure.h"
#include "rendezvous/protocol/report.h"
#include "rendezvous/protocol/verdict.h"

namespace muster::rendezvous {

// Returns the verdict with which an earlier coordinator ended the job by the
// stop order `end`. nullopt: another round followed, or the job was preempted;
// then the nodes report their preemption notices again, and these notices end
// the job as preempted.
std::optional<Verdict> VerdictOf(const RoundEnd& end,
                                 const std::vector<const Report*>& reports);

// The newest round of earlier coordinators, which this coordinator has adopted
// or given up; or a void round, if a node has reported that a cancel stopped
// that round.
struct EarlierRound {
  // The round's world; round 0: there is none, a node has reported a newer
  // world, or this coordinator has begun a round of its own.
  WorldId world;
  // The newest order that ended the round, as far as nodes have reported; epoch
  // 0: none.
  RoundEnd end;
  // The verdict with which an earlier coordinator ended the job by the order
  // `end`. Set only in JobPhase::kGathering. The job ends with this verdict
  // instead of beginning another round, unless a node first reports a newer
  // world. nullopt: none.
  std::optional<Verdict> verdict;

  // The round that is given up, and how an earlier coordinator ended it, as far
  // as the reports `all` show. Only a report that the newest world has ended
  // counts: after the end of any other world, the job may have gone on without
  // the node that reports this end.
  static EarlierRound GivenUp(const std::vector<const Report*>& all);

  bool exists() const { return world.round > 0; }
  // Makes the void round of `report` the earlier round if a cancel stopped it
  // and no node has reported a newer world than it (`newest`). No effect if an
  // earlier round exists.
  void TakeVoidCancel(const Report& report, const WorldId& newest);
  // Whether the node knows a newer world.
  bool IsSuperseded(const Report& report) const;
  // Whether this coordinator has adopted the round, or has given it up.
  enum class Fate { kAdopted, kGivenUp };
  // Whether the report contains an order that ended this round, and the order
  // counts. An order does not count in these cases:
  // - An order that takes precedence (Replaces) is recorded in `end`.
  // - This coordinator, of `epoch`, has adopted the round or knows how the job
  //   has ended. Then only a cancel counts, which is the wish of a user. The
  //   earlier coordinator may have given any other order after the election of
  //   this coordinator.
  bool Accepts(const Report& report, uint64_t epoch, Fate fate) const;
};

// The node whose process coordinated a round that another coordinator has
// adopted, and that has not reported since.
struct LostHost {
  int rank = 0;      // group rank in the adopted world
  std::string name;  // node id; "": unknown
  Instant due;       // the time at which the node counts as lost

  // Called when this coordinator adopts a running round at `now`. Returns the
  // node whose process coordinated this round, if that node has not reported to
  // this coordinator; nullopt: it has reported, or is unknown. `world`: the
  // adopted world of round `round`. `reports`: the newest report of each node,
  // by node id. `lease` (JobSpec::lease) limits the time that the node has for
  // its report.
  static std::optional<LostHost> Of(
      const World& world, int round,
      const std::map<std::string, Report>& reports, Instant now,
      Duration lease);
  // The loss as the failure that is the cause of a break.
  Failure AsFailure() const;
  // The loss as the reason of a break.
  std::string Text() const;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOB_EARLIER_ROUND_H_
