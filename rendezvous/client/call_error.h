#ifndef MUSTER_RENDEZVOUS_CLIENT_CALL_ERROR_H_
#define MUSTER_RENDEZVOUS_CLIENT_CALL_ERROR_H_

#include <string>

#include "absl/status/status.h"

namespace muster::rendezvous {

// Explains a call's gRPC status (code and message) in a sentence: what was
// tried, what happened, and what to do. `endpoint`: the coordinator as the user
// named it.
//
// Unavailable: the coordinator cannot be reached, or was lost.
// ResourceExhausted: it is at its limit. For these two, a retry may help.
// Unauthenticated: the job token is missing or wrong. FailedPrecondition: the
// peer is no Muster coordinator, or one that does not understand this program.
// Other codes (NotFound, InvalidArgument…) are the coordinator's own and are
// returned unchanged.
absl::Status ExplainCallError(const absl::Status& status,
                              const std::string& endpoint);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_CLIENT_CALL_ERROR_H_
