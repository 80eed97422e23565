#ifndef MUSTER_RENDEZVOUS_JOB_CONSTITUENCY_H_
#define MUSTER_RENDEZVOUS_JOB_CONSTITUENCY_H_

#include <vector>

#include "rendezvous/protocol/electorate.h"
#include "rendezvous/protocol/job_spec.h"
#include "rendezvous/protocol/place.h"
#include "rendezvous/protocol/report.h"

namespace muster::rendezvous {

WorldId IdOf(const Place& place);

// The electorate that the newest coordinator told, as far as these nodes know.
// Without any: a default Electorate. `rank` has no meaning. O(n).
Electorate NewestElectorate(const std::vector<const Report*>& reports);

// Whether the world of `place` can never begin on all of its nodes any more: it
// is older than the electorate, or was formed by a coordinator before the one
// that told the electorate.
bool IsVoid(const Place& place, const Electorate& newest);

// A world that takes part in an election of a coordinator.
struct Constituency {
  WorldId world;
  int nodes = 0;
  int voters = 0;  // number of its nodes that vote and remember it
  // Number of its nodes that were started again, so that they have forgotten
  // both the world and what they have promised. They are known by their ids.
  int returned = 0;

  // Whether these nodes may elect: more than half of the world, and at least
  // half of it remembers. Any other majority of the world then contains a node
  // that remembers, and the promise of that node is known here.
  bool has_majority() const;
};

// Returns the newest electorate that `known` contains, and every newer world
// that a report of `known` has a place in and that is not void: it may have
// begun on all of its nodes. In ascending order. `voting`: the reports of the
// nodes that vote. With Takeover::kAuto, nodes that were started again vote in
// the electorate that lists them. O(n log n).
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
