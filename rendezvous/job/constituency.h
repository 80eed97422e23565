#ifndef MUSTER_RENDEZVOUS_JOB_CONSTITUENCY_H_
#define MUSTER_RENDEZVOUS_JOB_CONSTITUENCY_H_

#include <vector>

#include "rendezvous/protocol/electorate.h"
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
  int voters = 0;  // number of the world's nodes that vote
  bool has_majority() const;
};

// Returns the worlds whose majorities are needed to elect a coordinator, in
// ascending order: the newest electorate in `known`, and every newer world in
// which a report of `known` has a place and that is not void, because it may
// have begun on all of its nodes. `voting`: the reports of the nodes that vote.
// O(n log n).
std::vector<Constituency> ConstituenciesOf(
    const std::vector<const Report*>& known,
    const std::vector<const Report*>& voting);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOB_CONSTITUENCY_H_
