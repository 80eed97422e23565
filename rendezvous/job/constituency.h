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
// knows; a default Electorate if there is none. Do not use the field `rank` of
// the result: it is the rank of the node that sent the report. O(n).
Electorate NewestElectorate(const std::vector<const Report*>& reports);

// Whether the world of `place` can no longer begin on all of its nodes. This is
// so if the world is older than the electorate's world, or if its coordinator
// has a lower epoch than the coordinator that sent the electorate.
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
  // node that remembers, and the promise of this node is known to this
  // coordinator.
  bool has_majority() const;
};

// Returns the worlds whose majorities are needed to elect a coordinator, in
// ascending order: the newest electorate in `known`, and every newer world that
// may have begun on all of its nodes: a report of `known` has a place in this
// world, and the world is not void (IsVoid). `voting`: the reports of the nodes
// that vote. With Takeover::kAuto, restarted nodes vote in the electorate that
// lists them. If several nodes report the same rank of a world, one of them
// counts. O(n log n) for n reports.
std::vector<Constituency> ConstituenciesOf(
    const std::vector<const Report*>& known,
    const std::vector<const Report*>& voting);

// Whether the nodes that are not connected to this coordinator are too few to
// begin a world or to end a job. There are at most max_nodes - `here` of them,
// because Takeover::kAuto assumes that at most max_nodes nodes run. They are
// too few if they are fewer than `here`, than min_nodes and than half of each
// constituency. False without kAuto.
bool OthersAreTooFew(const JobSpec& spec, int here,
                     const std::vector<Constituency>& constituencies);

// Whether the node is certainly a spare: it knows the electorate, is not in it,
// and has no place in a round. A spare runs in addition to the max_nodes nodes
// that a job can have.
bool IsKnownSpare(const Report& report);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOB_CONSTITUENCY_H_
