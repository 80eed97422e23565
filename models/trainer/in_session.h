#ifndef MUSTER_MODELS_TRAINER_IN_SESSION_H_
#define MUSTER_MODELS_TRAINER_IN_SESSION_H_

#include <functional>

#include "absl/status/status.h"
#include "trainer_sdk/session/session.h"

namespace muster::models {

// Runs `train` in this process's session and returns its status. Errors name
// the rank. Other errors are those of Session::FromEnvironment.
absl::Status InSession(const std::function<absl::Status(Session&)>& train);

// Runs `command` and returns its status. ResourceExhausted: there was not
// enough memory; says what needs less.
absl::Status WithinMemory(const std::function<absl::Status()>& command);

}  // namespace muster::models

#endif  // MUSTER_MODELS_TRAINER_IN_SESSION_H_
