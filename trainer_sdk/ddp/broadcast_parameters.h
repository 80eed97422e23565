#ifndef MUSTER_TRAINER_SDK_DDP_BROADCAST_PARAMETERS_H_
#define MUSTER_TRAINER_SDK_DDP_BROADCAST_PARAMETERS_H_

#include <vector>

#include "absl/status/status.h"
#include "trainer_sdk/device/device.h"
#include "trainer_sdk/process_group/process_group.h"
#include "trainer_sdk/tensor/tensor.h"

namespace muster {

// Copies rank 0's values to every rank, as PyTorch's DDP does in its
// constructor, so that ranks that start with different weights become equal.
// Small values are sent together. Collective and blocking. InvalidArgument:
// CheckData rejects a value. FailedPrecondition: the ranks' lists differ; says
// where, and nothing has changed. Other errors are the group's, with the name
// of the value. `device` has the memory of the values, which the group's
// operations must take.
absl::Status BroadcastParameters(ProcessGroup& group,
                                 const std::vector<Tensor>& tensors,
                                 Device& device = HostDevice());

// Collective. Returns FailedPrecondition on every rank if the lists differ:
// names the first tensor that differs (name, elements, rows, type of `part`)
// and the ranks on which it differs from rank 0; or says how many parameters
// each rank has. `device` has the memory that the group's operations take.
absl::Status CheckSameParameters(Device& device, ProcessGroup& group,
                                 const std::vector<Tensor>& parameters,
                                 TensorData Tensor::*part);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DDP_BROADCAST_PARAMETERS_H_
