#ifndef MUSTER_STORE_CLIENT_DIAL_STORE_H_
#define MUSTER_STORE_CLIENT_DIAL_STORE_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/time.h"
#include "store/client/store_channel.h"

namespace muster::store {

// Connects to the store and retries until `deadline`, because the store's host
// may start later than this one, and its name may become known even later. If
// `deadline` has passed, makes one attempt without waiting. Blocks.
//
// DeadlineExceeded: the message has the time spent and the last error.
// FailedPrecondition: the peer is not a store; returned after five such
// attempts in a row.
absl::StatusOr<StoreChannel> DialStore(const std::string& host, int port,
                                       Instant deadline);

}  // namespace muster::store

#endif  // MUSTER_STORE_CLIENT_DIAL_STORE_H_
