#ifndef MUSTER_AGENT_FAILURES_OLD_RECORDS_H_
#define MUSTER_AGENT_FAILURES_OLD_RECORDS_H_

#include <string>

#include "rendezvous/protocol/directive.h"

namespace muster::agent {

// Before a round starts: removes what an earlier job or round left in `folder`
// and `launch inspect` would take for this one's: the flight recorders (.ring
// and .json) of this node's `workers` ranks, what this node left itself
// (worker_ends.h), and both of ranks and nodes beyond `place`'s world. Other
// nodes' are theirs to remove: they may share the folder, and be further.
//
// What cannot be removed stays.
void RemoveOldRecords(const std::string& folder, const rendezvous::Place& place,
                      int workers);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_FAILURES_OLD_RECORDS_H_
