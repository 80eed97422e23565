#ifndef MUSTER_TRAINER_SDK_DDP_BROADCAST_PARAMETERS_H_
#define MUSTER_TRAINER_SDK_DDP_BROADCAST_PARAMETERS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "trainer_sdk/process_group/dtype.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster {

// Elements that ranks are to have alike: a parameter's, or a buffer's.
struct ParameterValue {
  // For messages, and the same on every rank.
  std::string name;
  int64_t count = 0;
  DType dtype = DType::kFloat32;
  void* data = nullptr;
};

// Gives every rank rank 0's elements, as PyTorch's DDP does when it is made, so
// that ranks that began with different weights don't stay apart for ever.
// Small values travel together. Collective; `data` is in the host's memory.
// FailedPrecondition: the ranks' lists differ, where and how, and nothing was
// changed. Other errors are the group's, with what was being sent.
absl::Status BroadcastParameters(ProcessGroup& group,
                                 const std::vector<ParameterValue>& values);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DDP_BROADCAST_PARAMETERS_H_
