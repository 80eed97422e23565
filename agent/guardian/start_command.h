#ifndef MUSTER_AGENT_GUARDIAN_START_COMMAND_H_
#define MUSTER_AGENT_GUARDIAN_START_COMMAND_H_

#include <string>

#include "absl/status/statusor.h"
#include "agent/workers/worker_spec.h"

namespace muster::agent {

// Encodes the StartCommand of `spec`. InvalidArgument: no argv, a NUL
// character, a variable's name that is empty or contains '=', or more bytes
// than fit in one message. Pure.
absl::StatusOr<std::string> EncodeStart(const WorkerSpec& spec);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GUARDIAN_START_COMMAND_H_
