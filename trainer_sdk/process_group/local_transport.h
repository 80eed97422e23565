#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_LOCAL_TRANSPORT_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_LOCAL_TRANSPORT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "trainer_sdk/process_group/transport.h"

namespace muster {

// A group of one in the host's memory: every collective is a copy.
// InvalidArgument: `place` is of a larger group.
absl::StatusOr<std::unique_ptr<Transport>> NewLocalTransport(
    const GroupPlace& place);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_LOCAL_TRANSPORT_H_
