#ifndef MUSTER_LAUNCHER_DOCTOR_ASK_COORDINATOR_H_
#define MUSTER_LAUNCHER_DOCTOR_ASK_COORDINATOR_H_

#include <string>

#include "absl/status/statusor.h"
#include "agent/health/node_facts.h"
#include "rendezvous/endpoint/endpoint.h"

namespace muster::launcher {

// Calls the coordinator at `endpoint`: whether it answers, whom it sees, what
// time it has. `token`: the job's, as ReadToken gives it. Blocks for ten
// seconds at most.
agent::CoordinatorFacts AskCoordinator(
    const rendezvous::Endpoint& endpoint,
    const absl::StatusOr<std::string>& token);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_DOCTOR_ASK_COORDINATOR_H_
