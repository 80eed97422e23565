#ifndef MUSTER_TRAINER_SDK_DDP_BROADCAST_PARAMETERS_H_
#define MUSTER_TRAINER_SDK_DDP_BROADCAST_PARAMETERS_H_

#include <vector>

#include "absl/status/status.h"
#include "trainer_sdk/process_group/process_group.h"
#include "trainer_sdk/tensor/tensor.h"

namespace muster {

// Gives every rank rank 0's values, as PyTorch's DDP does when it is made, so
// that ranks that began with different weights don't stay apart for ever.
// Small values travel together. Collective.
// InvalidArgument: a value that CheckData refuses.
// FailedPrecondition: the ranks' lists differ, where and how, and nothing was
// changed. Other errors are the group's, with what was being sent.
absl::Status BroadcastParameters(ProcessGroup& group,
                                 const std::vector<Tensor>& tensors);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DDP_BROADCAST_PARAMETERS_H_
