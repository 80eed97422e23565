#ifndef MUSTER_LAUNCHER_REPORT_PHASE_TEXT_H_
#define MUSTER_LAUNCHER_REPORT_PHASE_TEXT_H_

#include "rendezvous/protocol/job_status.h"

namespace muster {

// Lower-case names, the same in tables and in JSON. Pure.
const char* PhaseText(JobPhase phase);     // "gathering", "running", …
const char* PhaseText(NodePhase phase);    // "idle", "running", …
const char* FitnessText(Fitness fitness);  // "fit", "unchecked", "unfit"
const char* OutcomeText(Outcome outcome);  // "succeeded", "failed", …

}  // namespace muster

#endif  // MUSTER_LAUNCHER_REPORT_PHASE_TEXT_H_
