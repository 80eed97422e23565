#ifndef MUSTER_LAUNCHER_HOST_COORDINATOR_H_
#define MUSTER_LAUNCHER_HOST_COORDINATOR_H_

#include <memory>

#include "absl/status/statusor.h"
#include "launcher/coordinator_choice.h"
#include "launcher/embedded_coordinator.h"
#include "launcher/voice.h"
#include "rendezvous/protocol/report.h"

namespace muster::launcher {

// Starts the coordinator if `choice` says that this process hosts it. Returns
// null if this process must connect to a coordinator instead.
//
// With kHereIfFree the port may be in use. If a process listens on the port, it
// is taken for the coordinator of another agent on this machine, and the result
// is null. If no process listens, the kernel may have given the port to another
// program's outgoing connection. Start is then retried for a few seconds.
//
// Errors: those of EmbeddedCoordinator::Start. Must be called after signals
// have been blocked.
absl::StatusOr<std::unique_ptr<EmbeddedCoordinator>> HostCoordinator(
    const CoordinatorChoice& choice,
    const EmbeddedCoordinator::Options& hosting, const Voice& voice);

// Starts the standby coordinator of a node that does not host the coordinator.
// Requires CoordinatorChoice::is_taken_over. Must be called after signals have
// been blocked.
//
// The standby listens at the address of `node`. If `node` has no address, the
// standby listens at the address from which this node reaches the coordinator.
// The standby uses the coordinator's port, except in two cases, in which it
// uses any free port:
// - The coordinator's port is in use on this machine.
// - Another process of this machine may still bind that port and become the
//   coordinator.
//
// With TLS, other nodes reach the standby by the node's host name if the
// certificate was issued for this name and not for the address. If the standby
// cannot listen, prints a notice and returns null: the job still runs.
std::unique_ptr<EmbeddedCoordinator> StandBy(
    const CoordinatorChoice& choice, const rendezvous::NodeIdentity& node,
    EmbeddedCoordinator::Options standing_by, const Voice& voice);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_HOST_COORDINATOR_H_
