#ifndef MUSTER_TRAINER_SDK_DDP_SAME_PARAMETERS_H_
#define MUSTER_TRAINER_SDK_DDP_SAME_PARAMETERS_H_

#include <vector>

#include "absl/status/status.h"
#include "trainer_sdk/ddp/parameter.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster {

// Collective. FailedPrecondition, on every rank: the first parameter that is
// not the same everywhere (name, elements, type), and on which ranks it is
// another than on rank 0; or how many parameters each rank has.
absl::Status CheckSameParameters(ProcessGroup& group,
                                 const std::vector<DdpParameter>& parameters);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DDP_SAME_PARAMETERS_H_
