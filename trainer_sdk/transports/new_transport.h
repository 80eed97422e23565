#ifndef MUSTER_TRAINER_SDK_TRANSPORTS_NEW_TRANSPORT_H_
#define MUSTER_TRAINER_SDK_TRANSPORTS_NEW_TRANSPORT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "base/time.h"
#include "trainer_sdk/process_group/process_group.h"
#include "trainer_sdk/process_group/transport.h"
#include "trainer_sdk/transports/transport_choice.h"

namespace muster {

// Makes the transport `choice` for one group, with the transport's default
// options. Collective, with the same choice on every rank; blocks until
// `deadline` at most. Errors are those of the chosen transport.
absl::StatusOr<std::unique_ptr<Transport>> NewTransport(GroupPlace place,
                                                        TransportChoice choice,
                                                        Instant deadline);

// Makes a process group over the transport `choice`. Groups that are split from
// it use the same choice. Collective and blocking. Most programs need only
// NewWorld (session_world.h), which makes the group of all ranks, and
// ProcessGroup::Split. With NCCL, a group without global ranks in its options
// counts as the world, and uses the NCCL id that the agent made for the round.
//
// `place.name` identifies the group within its store, so different groups need
// different names. InvalidArgument: another process already has this rank in a
// group of this name.
//
// A broken group may be created again under the same name: every rank calls
// this function again, including a rank whose last call failed. The ranks'
// first calls make one group, their second calls the next, and so on.
absl::StatusOr<std::unique_ptr<ProcessGroup>> NewProcessGroup(
    GroupPlace place, TransportChoice choice, ProcessGroupOptions options = {});

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_TRANSPORTS_NEW_TRANSPORT_H_
