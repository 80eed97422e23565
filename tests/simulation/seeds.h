#ifndef MUSTER_TESTS_SIMULATION_SEEDS_H_
#define MUSTER_TESTS_SIMULATION_SEEDS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace muster::simulation {

// Simulates a cluster for each seed, until an invariant is broken. Returns the
// seed, the invariant, the end of the trace and the command that repeats the
// simulation. Empty: every invariant held.
std::string FirstFailure(const std::vector<uint64_t>& seeds);

// Returns the `count` seeds that begin with `first`.
std::vector<uint64_t> SeedsFrom(uint64_t first, int count);

}  // namespace muster::simulation

#endif  // MUSTER_TESTS_SIMULATION_SEEDS_H_
