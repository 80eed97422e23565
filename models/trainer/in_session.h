#ifndef MUSTER_MODELS_TRAINER_IN_SESSION_H_
#define MUSTER_MODELS_TRAINER_IN_SESSION_H_

#include <functional>

#include "absl/status/status.h"
#include "trainer_sdk/session/session.h"

namespace muster {

// What `train` returns in this process's session; an error names the rank.
// Errors besides are Session::FromEnvironment's.
absl::Status InSession(const std::function<absl::Status(Session&)>& train);

// What `command` returns. ResourceExhausted: there was not enough memory for
// it, and what takes less.
absl::Status WithinMemory(const std::function<absl::Status()>& command);

}  // namespace muster

#endif  // MUSTER_MODELS_TRAINER_IN_SESSION_H_
