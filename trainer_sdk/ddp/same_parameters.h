#ifndef MUSTER_TRAINER_SDK_DDP_SAME_PARAMETERS_H_
#define MUSTER_TRAINER_SDK_DDP_SAME_PARAMETERS_H_

#include <vector>

#include "absl/status/status.h"
#include "trainer_sdk/device/device.h"
#include "trainer_sdk/process_group/process_group.h"
#include "trainer_sdk/tensor/tensor.h"

namespace muster {

// Collective. Returns FailedPrecondition on every rank if the lists differ:
// names the first tensor that differs (name, elements, rows, type of `part`)
// and the ranks on which it differs from rank 0; or says how many parameters
// each rank has. `device` has the memory that the group's operations take.
absl::Status CheckSameParameters(Device& device, ProcessGroup& group,
                                 const std::vector<Tensor>& parameters,
                                 TensorData Tensor::*part);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DDP_SAME_PARAMETERS_H_
