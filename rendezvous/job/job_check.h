#ifndef MUSTER_RENDEZVOUS_JOB_JOB_CHECK_H_
#define MUSTER_RENDEZVOUS_JOB_JOB_CHECK_H_

#include "rendezvous/job/directives.h"
#include "rendezvous/job/job_state.h"

namespace muster::rendezvous {

// The check of a job's nodes by pairs before a round (--network-check), as
// changes of the job's state. Pure. A check never ends a job: nodes that the
// check finds bad get a place nevertheless if too few other nodes are left for
// a world.

// Makes a check by pairs due before the next round, because the network or a
// node may be bad. No effect unless the job runs with
// NetworkCheckTime::kSuspicion. The job's record and the standbys learn of it.
void Suspect(JobState& state);
// Begins or continues the check by pairs if it is due before the next round.
// Returns whether the next world must wait for this check.
bool CheckDelaysWorld(JobState& state, Outbox& outbox);
// Records which nodes the check by pairs has found bad, and which nodes are
// good again. Returns whether the record of any node has changed.
bool ConcludeCheck(JobState& state, Outbox& outbox);
// Allows nodes that the check by pairs found bad to get a place, for as long as
// a world would have too few nodes without them.
void WaiveFaults(JobState& state, Outbox& outbox);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOB_JOB_CHECK_H_
