#ifndef MUSTER_LAUNCHER_DOCTOR_ASK_COORDINATOR_H_
#define MUSTER_LAUNCHER_DOCTOR_ASK_COORDINATOR_H_

#include <string>

#include "absl/status/statusor.h"
#include "agent/health/node_facts.h"
#include "rendezvous/endpoint/endpoint.h"

namespace muster::launcher {

// Asks the coordinator at `endpoint` whether it answers, which address of this
// node it sees, and its time. `token`: the job's token from ReadToken. Blocks
// for at most ten seconds.
agent::CoordinatorFacts AskCoordinator(
    const rendezvous::Endpoint& endpoint,
    const absl::StatusOr<std::string>& token);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_DOCTOR_ASK_COORDINATOR_H_
