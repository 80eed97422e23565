#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_SPLIT_MEETING_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_SPLIT_MEETING_H_

#include <memory>

#include "absl/status/status.h"
#include "trainer_sdk/process_group/formation.h"
#include "trainer_sdk/process_group/operation.h"
#include "trainer_sdk/process_group/transport.h"

namespace muster {

// The operation that a Split performs in its group's transport.
Operation SplitOperation();

// The first step of a Split: all ranks meet in the group's own transport before
// they wait in the store. A rank that called another collective is waiting in
// the transport, so the mismatch is found at once and reported to both sides.
// Errors are those of the transport. If `formation` is given up, the transport
// is aborted.
absl::Status MeetToSplit(Transport& transport,
                         const std::shared_ptr<Formation>& formation,
                         const OperationContext& context);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_SPLIT_MEETING_H_
