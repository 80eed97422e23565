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
// the same choice. NCCL: `place` is the world, unless the options name its
// global ranks, and takes the id that its agent made for the round.
//
// A group may be made again over the same store, after the last one broke: the
// n-th creation has keys of its own, whatever the ones before it left there.
// The store counts each rank's calls; a call that fails counts too, so every
// rank calls as often as the others.
absl::StatusOr<std::unique_ptr<ProcessGroup>> NewProcessGroup(
    GroupPlace place, TransportChoice choice, ProcessGroupOptions options = {});

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_TRANSPORTS_NEW_TRANSPORT_H_
