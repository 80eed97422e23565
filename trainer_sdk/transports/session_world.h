#ifndef MUSTER_TRAINER_SDK_TRANSPORTS_SESSION_WORLD_H_
#define MUSTER_TRAINER_SDK_TRANSPORTS_SESSION_WORLD_H_

#include <memory>

#include "absl/status/statusor.h"
#include "trainer_sdk/process_group/process_group.h"
#include "trainer_sdk/session/session.h"
#include "trainer_sdk/transports/transport_choice.h"

namespace muster {

// All ranks of the session as a process group named "world", by default over
// the transport that suits where they are. Collective; the session must outlive
// it. Split makes groups of some of the ranks. When the group is broken, every
// rank may call NewWorld again. Errors as NewProcessGroup's.
absl::StatusOr<std::unique_ptr<ProcessGroup>> NewWorld(
    Session& session, TransportChoice choice = TransportChoice::kAutomatic,
    ProcessGroupOptions options = {});

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_TRANSPORTS_SESSION_WORLD_H_
