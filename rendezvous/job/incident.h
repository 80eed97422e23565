#ifndef MUSTER_RENDEZVOUS_JOB_INCIDENT_H_
#define MUSTER_RENDEZVOUS_JOB_INCIDENT_H_

#include <optional>

#include "base/time.h"
#include "rendezvous/job/directives.h"
#include "rendezvous/job/job_state.h"
#include "rendezvous/protocol/node_fault.h"
#include "rendezvous/protocol/time_ledger.h"

namespace muster::rendezvous {

// The early end of a round, by the stopped round in the job's state: why time
// was lost, which machine is to blame, and how long the next round waits. Pure.

// Why the stopped round ended: Incident::round, cause, host and why.
Incident IncidentOf(const JobState& state);
// The fault of the blamed member's machine if the cause of the stopped round is
// evidence against that machine: a worker's failure that suggests a defect of
// the machine (EvidenceIn), or the loss of the member's node. nullopt: none.
// Also nullopt if other nodes were lost as well, because the network or the
// cluster is then the likely cause.
std::optional<HostFault> FaultOfCulprit(const JobState& state);
// Records the incident in the job's JobLedger (the totals of the job's time)
// and in the handover for the standbys, and counts the fault against the
// culprit's machine.
void CountIncident(JobState& state, Outbox& outbox);
// Counts the end of the stopped round in the back-off, and returns the delay
// before the next round.
Duration DelayOfNextRound(JobState& state);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOB_INCIDENT_H_
