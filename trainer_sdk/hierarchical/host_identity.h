#ifndef MUSTER_TRAINER_SDK_HIERARCHICAL_HOST_IDENTITY_H_
#define MUSTER_TRAINER_SDK_HIERARCHICAL_HOST_IDENTITY_H_

#include <string>

#include "absl/status/statusor.h"

namespace muster {

// A name that is equal for two processes exactly if they can share memory: they
// run under one kernel since the same boot and in one network namespace. (Two
// containers on one machine have the same boot id, and often the same host
// name.)
absl::StatusOr<std::string> HostIdentity();

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_HIERARCHICAL_HOST_IDENTITY_H_
