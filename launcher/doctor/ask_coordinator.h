#ifndef MUSTER_LAUNCHER_DOCTOR_ASK_COORDINATOR_H_
#define MUSTER_LAUNCHER_DOCTOR_ASK_COORDINATOR_H_

#include <string>

#include "agent/fitness/node_facts.h"
#include "rendezvous/endpoint/endpoint.h"

namespace muster {

// Calls the coordinator at `endpoint`: whether it answers, whom it sees, what
// time it has. Blocks for ten seconds at most.
CoordinatorFacts AskCoordinator(const Endpoint& endpoint,
                                const std::string& token_file);

}  // namespace muster

#endif  // MUSTER_LAUNCHER_DOCTOR_ASK_COORDINATOR_H_
