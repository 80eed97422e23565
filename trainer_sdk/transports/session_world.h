#ifndef MUSTER_TRAINER_SDK_TRANSPORTS_SESSION_WORLD_H_
#define MUSTER_TRAINER_SDK_TRANSPORTS_SESSION_WORLD_H_

#include <memory>

#include "absl/status/statusor.h"
#include "trainer_sdk/process_group/process_group.h"
#include "trainer_sdk/session/session.h"

namespace muster {

// All ranks of the session as a process group named "world", over the transport
// that suits where they are, with keys of its own in the session's store.
// Collective; the session must outlive it. Errors as NewProcessGroup's.
absl::StatusOr<std::unique_ptr<ProcessGroup>> NewWorld(Session& session);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_TRANSPORTS_SESSION_WORLD_H_
