#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_LOCAL_TRANSPORT_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_LOCAL_TRANSPORT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "trainer_sdk/process_group/transport.h"

namespace muster {

// Makes the transport of a group of one rank, in host memory: every collective
// is a copy. InvalidArgument: `place` has more than one rank.
absl::StatusOr<std::unique_ptr<Transport>> NewLocalTransport(
    const GroupPlace& place);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_LOCAL_TRANSPORT_H_
