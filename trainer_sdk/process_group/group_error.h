#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_GROUP_ERROR_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_GROUP_ERROR_H_

#include "absl/status/status.h"
#include "trainer_sdk/process_group/transport.h"

namespace muster {

// Prefixes the message of `status` with the group's name: "group world: ...".
absl::Status NamedAfter(const GroupPlace& place, const absl::Status& status);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_GROUP_ERROR_H_
