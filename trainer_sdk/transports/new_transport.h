#ifndef MUSTER_TRAINER_SDK_TRANSPORTS_NEW_TRANSPORT_H_
#define MUSTER_TRAINER_SDK_TRANSPORTS_NEW_TRANSPORT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "base/time.h"
#include "trainer_sdk/process_group/process_group.h"
#include "trainer_sdk/process_group/transport.h"
#include "trainer_sdk/transports/transport_choice.h"

namespace muster {

// The transport of one group, with its usual options. Collective, with the
// same choice on every rank. Errors are the transport's own.
absl::StatusOr<std::unique_ptr<Transport>> NewTransport(GroupPlace place,
                                                        TransportChoice choice,
                                                        Instant deadline);

// A process group over such a transport; the groups that it is split into have
// the same choice. NewWorld (session_world.h) makes the group of all ranks, and
// ProcessGroup::Split its parts; this is for groups beside those. NCCL: `place`
// is the world, unless the options name its global ranks, and takes the id that
// its agent made for the round.
//
// `place.name` tells the groups of one store apart: different groups need
// different names. InvalidArgument: another process is this rank of a group of
// this name.
//
// A group that broke may be made again under the same name: every rank calls
// this once more, also a rank whose last call failed. The ranks' first calls
// make one group, their second calls the next, and so on.
absl::StatusOr<std::unique_ptr<ProcessGroup>> NewProcessGroup(
    GroupPlace place, TransportChoice choice, ProcessGroupOptions options = {});

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_TRANSPORTS_NEW_TRANSPORT_H_
