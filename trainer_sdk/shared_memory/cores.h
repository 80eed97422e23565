#ifndef MUSTER_TRAINER_SDK_SHARED_MEMORY_CORES_H_
#define MUSTER_TRAINER_SDK_SHARED_MEMORY_CORES_H_

#include <bitset>
#include <vector>

#include "trainer_sdk/shared_memory/layout.h"

namespace muster {

using CoreSet = std::bitset<kMaxCores>;

// The cores on which this thread may run.
CoreSet AvailableCores();

// Whether `rank` may spin while it waits. True if the ranks that can run only
// on its cores, itself included, all find a core there. Otherwise a spinning
// rank may delay the rank that it waits for. Pure.
bool MaySpin(const std::vector<CoreSet>& cores_of_ranks, int rank);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SHARED_MEMORY_CORES_H_
