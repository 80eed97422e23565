#ifndef MUSTER_AGENT_GUARDIAN_START_COMMAND_H_
#define MUSTER_AGENT_GUARDIAN_START_COMMAND_H_

#include <string>

#include "absl/status/statusor.h"
#include "agent/workers/worker_spec.h"

namespace muster::agent {

// The StartCommand for `spec`, encoded. InvalidArgument, in words, for what no
// process can be given: no argv, a NUL character, a variable's name that is
// empty or holds '=', or more than fits in one message. Pure.
absl::StatusOr<std::string> EncodeStart(const WorkerSpec& spec);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GUARDIAN_START_COMMAND_H_
