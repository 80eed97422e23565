#ifndef MUSTER_TRAINER_SDK_SHARED_MEMORY_CORES_H_
#define MUSTER_TRAINER_SDK_SHARED_MEMORY_CORES_H_

#include <bitset>
#include <vector>

#include "trainer_sdk/shared_memory/layout.h"

namespace muster {

using CoreSet = std::bitset<kMaxCores>;

// Those that this thread may run on.
CoreSet AvailableCores();

// Whether `rank` may spin while it waits for the others: whether those that
// can run on its cores only, itself included, all find one there. Otherwise a
// rank that spins may hold up the very rank that it waits for. Pure.
bool MaySpin(const std::vector<CoreSet>& cores_of_ranks, int rank);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SHARED_MEMORY_CORES_H_
