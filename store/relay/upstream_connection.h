#ifndef MUSTER_STORE_RELAY_UPSTREAM_CONNECTION_H_
#define MUSTER_STORE_RELAY_UPSTREAM_CONNECTION_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/owned_fd.h"
#include "base/time.h"

namespace muster {

// A non-blocking connection to a StoreServer that has agreed to speak relay
// frames. Tries every address of the host, again and again until `deadline`
// (MonotonicNow's clock) while it refuses; how long a name takes to resolve is
// the resolver's affair.
//   InvalidArgument     the host has no address
//   Unavailable         refused or unreachable until the deadline; the last
//                       error
//   DeadlineExceeded    connected, and no answer came
//   FailedPrecondition  what answers takes no relay of our version
absl::StatusOr<OwnedFd> ConnectUpstream(const std::string& host, int port,
                                        Instant deadline);

}  // namespace muster

#endif  // MUSTER_STORE_RELAY_UPSTREAM_CONNECTION_H_
