#ifndef MUSTER_RENDEZVOUS_JOB_CONSTITUENCY_H_
#define MUSTER_RENDEZVOUS_JOB_CONSTITUENCY_H_

#include <vector>

#include "rendezvous/protocol/electorate.h"
#include "rendezvous/protocol/report.h"

namespace muster::rendezvous {

// A world in which a majority must have come, and how many nodes have.
struct Constituency {
  WorldId world;
  int nodes = 0;
  int come = 0;
  bool has_majority() const { return 2 * come > nodes; }
};

// The electorate of the newest coordinator that these nodes know, and every
// newer world that one of them reports, in ascending order. Worlds that
// coordinators before the electorate's have formed, other than the electorate
// itself, are void: they can begin no more. O(n log n).
std::vector<Constituency> ConstituenciesOf(
    const std::vector<const Report*>& reports);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOB_CONSTITUENCY_H_
