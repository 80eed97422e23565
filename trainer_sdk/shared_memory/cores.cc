#include "trainer_sdk/shared_memory/cores.h"

#include <sched.h>

#include <cstddef>
#include <vector>

namespace muster {

CoreSet AvailableCores() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  CoreSet cores;
  // Fails on a machine with more cores than the set has. Then no core is known,
  // and ranks do not spin.
  if (sched_getaffinity(0, sizeof(mask), &mask) != 0) return cores;
  for (int core = 0; core < kMaxCores && core < CPU_SETSIZE; ++core) {
    cores[core] = CPU_ISSET(core, &mask);
  }
  return cores;
}

bool MaySpin(const std::vector<CoreSet>& cores_of_ranks, int rank) {
  const CoreSet& mine = cores_of_ranks[rank];
  size_t bound_to_mine = 0;
  for (const CoreSet& cores : cores_of_ranks) {
    if ((cores & ~mine).none()) ++bound_to_mine;
  }
  return bound_to_mine <= mine.count();
}

}  // namespace muster
