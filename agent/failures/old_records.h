#ifndef MUSTER_AGENT_FAILURES_OLD_RECORDS_H_
#define MUSTER_AGENT_FAILURES_OLD_RECORDS_H_

#include <string>

#include "rendezvous/protocol/directive.h"

namespace muster::agent {

// Removes, before a round starts, old records from `folder` that `launch
// inspect` would take for this round's: the flight records (.ring and .json) of
// this node's `workers` ranks, this node's file of worker ends (worker_ends.h),
// and both for ranks and nodes beyond `place`'s world. Other nodes remove their
// own files, because they may share the folder and have begun already.
//
// Files that cannot be removed stay.
void RemoveOldRecords(const std::string& folder, const rendezvous::Place& place,
                      int workers);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_FAILURES_OLD_RECORDS_H_
