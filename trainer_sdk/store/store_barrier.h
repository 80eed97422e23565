#ifndef MUSTER_TRAINER_SDK_STORE_STORE_BARRIER_H_
#define MUSTER_TRAINER_SDK_STORE_STORE_BARRIER_H_

#include <string>

#include "absl/status/status.h"
#include "base/time.h"
#include "trainer_sdk/store/store.h"

namespace muster {

// Returns once every rank of 0 .. size-1 has called it with this name. The
// name may be used again, also by ranks that come back before the others have
// left; at most one call per rank and name at a time. Five round trips a rank,
// and two keys that stay.
//
// DeadlineExceeded: not all came; the message names the absent ranks ("ranks
//   1, 4-7 of 8"). The caller has then arrived all the same: calling again goes
//   on waiting for the same ranks.
// InvalidArgument: no such rank or size.
// Whatever the store fails with.
absl::Status StoreBarrier(Store& store, const std::string& name, int rank,
                          int size, Instant deadline);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_STORE_STORE_BARRIER_H_
