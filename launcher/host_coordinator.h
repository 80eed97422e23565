#ifndef MUSTER_LAUNCHER_HOST_COORDINATOR_H_
#define MUSTER_LAUNCHER_HOST_COORDINATOR_H_

#include <memory>

#include "absl/status/statusor.h"
#include "launcher/coordinator_choice.h"
#include "launcher/embedded_coordinator.h"
#include "launcher/voice.h"

namespace muster::launcher {

// Hosts the coordinator if that is this node's place and, where another agent
// of this machine may have been first, its port is free. Null: connect.
//
// A port that is taken while nobody listens there (the near end of some other
// program's connection) is tried again for a few seconds. Errors as
// EmbeddedCoordinator::Start's. Create it after signals have been blocked.
absl::StatusOr<std::unique_ptr<EmbeddedCoordinator>> HostCoordinator(
    const CoordinatorChoice& choice,
    const EmbeddedCoordinator::Options& hosting, const Voice& voice);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_HOST_COORDINATOR_H_
