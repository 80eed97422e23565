#ifndef MUSTER_RENDEZVOUS_PROTOCOL_STATE_NAMES_H_
#define MUSTER_RENDEZVOUS_PROTOCOL_STATE_NAMES_H_

#include "rendezvous/protocol/job_status.h"

namespace muster::rendezvous {

// The lower-case names of phases, health and outcomes, as shown in tables, JSON
// and traces. Pure.
const char* PhaseText(JobPhase phase);   // a job's: "gathering", "running", ...
const char* PhaseText(NodePhase phase);  // "idle", "running", ...
const char* HealthText(Health health);   // "healthy", "unchecked", "unhealthy"
const char* PhaseText(SlowPhase phase);  // "compute", "data", "network"
// Returns what SlowRank::ratio compares the slow rank with: "the median" or
// "the other links".
const char* ComparedText(SlowPhase phase);
const char* HostStateText(HostState state);  // "healthy", "quarantined", ...
const char* OutcomeText(Outcome outcome);    // "succeeded", "timed out", ...

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_PROTOCOL_STATE_NAMES_H_
