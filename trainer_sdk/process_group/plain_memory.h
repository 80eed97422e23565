#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_PLAIN_MEMORY_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_PLAIN_MEMORY_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "trainer_sdk/process_group/transport.h"

namespace muster {

// Allocates ordinary host memory, for transports without memory of their own.
// `bytes` must not be negative. ResourceExhausted: not enough memory.
absl::StatusOr<std::unique_ptr<TransportMemory>> NewPlainMemory(int64_t bytes);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_PLAIN_MEMORY_H_
