#ifndef MUSTER_RENDEZVOUS_JOB_CONSTITUENCY_H_
#define MUSTER_RENDEZVOUS_JOB_CONSTITUENCY_H_

#include <vector>

#include "rendezvous/protocol/electorate.h"
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
  int voters = 0;  // number of its nodes that vote
  bool has_majority() const;
};

// Returns the newest electorate that `known` contains, and every newer world
// that a report of `known` has a place in and that is not void: it may have
// begun on all of its nodes. In ascending order. `voting`: the reports of the
// nodes that vote. O(n log n).
std::vector<Constituency> ConstituenciesOf(
    const std::vector<const Report*>& known,
    const std::vector<const Report*>& voting);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOB_CONSTITUENCY_H_
