#ifndef MUSTER_STORE_CLIENT_DIAL_STORE_H_
#define MUSTER_STORE_CLIENT_DIAL_STORE_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/time.h"
#include "store/client/store_channel.h"

namespace muster {

// A connection to the store there, tried again and again until `deadline`: the
// store's host may start later than this one, and its name may become known
// later still. A deadline in the past is one attempt of no patience.
//
// DeadlineExceeded: with how long was tried and what the last attempt met.
// FailedPrecondition: something else than a store listens there; told after
//   five attempts in a row.
absl::StatusOr<StoreChannel> DialStore(const std::string& host, int port,
                                       Instant deadline);

}  // namespace muster

#endif  // MUSTER_STORE_CLIENT_DIAL_STORE_H_
