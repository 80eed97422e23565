#ifndef MUSTER_LAUNCHER_REPORT_PHASE_TEXT_H_
#define MUSTER_LAUNCHER_REPORT_PHASE_TEXT_H_

#include "rendezvous/protocol/job_status.h"

namespace muster::launcher {

// The lower-case names of these values, in tables and in JSON. Pure.
const char* PhaseText(rendezvous::JobPhase phase);  // "gathering", "running", …
const char* PhaseText(rendezvous::NodePhase phase);  // "idle", "running", …
const char* HealthText(
    rendezvous::Health health);  // "healthy", "unchecked", "unhealthy"
const char* OutcomeText(
    rendezvous::Outcome outcome);  // "succeeded", "failed", …

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_REPORT_PHASE_TEXT_H_
