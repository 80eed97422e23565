#ifndef MUSTER_TRAINER_SDK_STORE_STORE_BARRIER_H_
#define MUSTER_TRAINER_SDK_STORE_STORE_BARRIER_H_

#include <string>

#include "absl/status/status.h"
#include "base/time.h"
#include "trainer_sdk/store/store.h"

namespace muster {

// Blocks until every rank in [0, size) has called StoreBarrier with this name.
// The name may be reused at once, even before all other ranks have left. But
// each rank may have only one call per name at a time. Costs five round trips
// per rank and leaves two keys in the store.
//
// DeadlineExceeded: some ranks did not arrive; the message names them ("ranks
// 1, 4-7 of 8"). Nevertheless the caller counts as arrived: if it calls again,
// it continues to wait for the same ranks. InvalidArgument: the rank or size is
// out of range. Other errors are the store's.
absl::Status StoreBarrier(Store& store, const std::string& name, int rank,
                          int size, Instant deadline);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_STORE_STORE_BARRIER_H_
