#ifndef MUSTER_RENDEZVOUS_CLIENT_CALL_ERROR_H_
#define MUSTER_RENDEZVOUS_CLIENT_CALL_ERROR_H_

#include <string>

#include "absl/status/status.h"

namespace muster {

// A call's gRPC status (its code and message) in words that say what was tried,
// what happened and what to do. `endpoint`: the coordinator, as the user named
// it.
//
// Unavailable: it cannot be reached, or was lost; ResourceExhausted: it has no
// room; trying again may help.
// Unauthenticated: the job token is missing or wrong. FailedPrecondition: it is
// not a Muster coordinator, or one that does not understand us. Everything else
// (NotFound, InvalidArgument…) is the coordinator's own answer, as it came.
absl::Status ExplainCallError(const absl::Status& status,
                              const std::string& endpoint);

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_CLIENT_CALL_ERROR_H_
