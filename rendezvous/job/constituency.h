#ifndef MUSTER_RENDEZVOUS_JOB_CONSTITUENCY_H_
#define MUSTER_RENDEZVOUS_JOB_CONSTITUENCY_H_

#include <vector>

#include "rendezvous/protocol/electorate.h"
#include "rendezvous/protocol/job_spec.h"
#include "rendezvous/protocol/place.h"
#include "rendezvous/protocol/report.h"

namespace muster::rendezvous {

WorldId IdOf(const Place& place);

// Returns the electorate from the newest coordinator that any of these reports
// knows; a default Electorate if there is none. `rank` has no meaning. O(n).
Electorate NewestElectorate(const std::vector<const Report*>& reports);

// Whether the world of `place` can no longer begin on all of its nodes: it is
// older than the electorate, or a coordinator before the one that sent the
// electorate formed it.
bool IsVoid(const Place& place, const Electorate& newest);

// A world whose nodes vote in the election of a coordinator.
struct Constituency {
  WorldId world;
  int nodes = 0;
  int voters = 0;  // number of the world's nodes that vote and remember it
  // Number of the world's nodes that vote after a restart. They have forgotten
  // the world and their promises, and are recognised by their node ids.
  int returned = 0;

  // Whether these nodes may elect: more than half of the world votes, and at
  // least half of it remembers. Any other majority of the world then contains a
  // node that remembers, and the promise of this node is known here.
  bool has_majority() const;
};

// Returns the worlds whose majorities are needed to elect a coordinator, in
// ascending order: the newest electorate in `known`, and every newer world in
// which a report of `known` has a place and that is not void, because it may
// have begun on all of its nodes. `voting`: the reports of the nodes that vote.
// With Takeover::kAuto, restarted nodes vote in the electorate that lists them.
// O(n log n).
std::vector<Constituency> ConstituenciesOf(
    const std::vector<const Report*>& known,
    const std::vector<const Report*>& voting);

// With Takeover::kAuto, which assumes that at most max_nodes nodes run at a
// time: whether so few nodes can be elsewhere, if `here` are here, that they
// can neither begin a world nor end a job: fewer than are here, than min_nodes
// and than half of each constituency.
bool OthersAreTooFew(const JobSpec& spec, int here,
                     const std::vector<Constituency>& constituencies);

// Whether the node has a place in no world that it knows of: it waits while the
// others run, and runs besides the max_nodes nodes of the job.
bool IsKnownSpare(const Report& report);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOB_CONSTITUENCY_H_
