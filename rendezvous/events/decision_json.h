#ifndef MUSTER_RENDEZVOUS_EVENTS_DECISION_JSON_H_
#define MUSTER_RENDEZVOUS_EVENTS_DECISION_JSON_H_

#include <string>

#include "rendezvous/protocol/job_status.h"

namespace muster::rendezvous {

// Formats one decision for programs: one JSON object with "time", "run_id",
// "round", "kind", "node" (null if it concerns the whole job) and "reason",
// followed by a newline. `unix_time`: seconds since 1970 at which the decision
// was received. Pure.
std::string DecisionJson(const std::string& run_id, const Decision& decision,
                         double unix_time);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_EVENTS_DECISION_JSON_H_
