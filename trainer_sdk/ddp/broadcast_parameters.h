#ifndef MUSTER_TRAINER_SDK_DDP_BROADCAST_PARAMETERS_H_
#define MUSTER_TRAINER_SDK_DDP_BROADCAST_PARAMETERS_H_

#include <vector>

#include "absl/status/status.h"
#include "trainer_sdk/device/device.h"
#include "trainer_sdk/process_group/process_group.h"
#include "trainer_sdk/tensor/tensor.h"

namespace muster {

// Copies rank 0's values of the tensors to every rank, as PyTorch's DDP does in
// its constructor. So all ranks start with equal weights. Small values in host
// memory are sent together. Collective and blocking. InvalidArgument: CheckData
// rejects a value. FailedPrecondition: the ranks' lists of tensors differ; the
// message names the difference, and no value has changed. Other errors are
// those of the group, with the name of the value. The values are in the memory
// of `device`, and the group's operations must accept this memory.
absl::Status BroadcastParameters(ProcessGroup& group,
                                 const std::vector<Tensor>& tensors,
                                 Device& device = HostDevice());

// Checks that all ranks have the same list of tensors: their number, and the
// name, number of elements, rows and type of each. `part` selects the type:
// that of the tensor's value or that of its gradient. Collective.
// FailedPrecondition, on every rank: the lists differ. The message names the
// first tensor that differs, and the ranks on which it differs from rank 0's.
// If the numbers of tensors differ, the message gives two ranks' numbers. The
// group's operations must accept the memory of `device`.
absl::Status CheckSameParameters(Device& device, ProcessGroup& group,
                                 const std::vector<Tensor>& parameters,
                                 TensorData Tensor::*part);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DDP_BROADCAST_PARAMETERS_H_
