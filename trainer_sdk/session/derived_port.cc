#include <cstdint>

#include "base/fnv_hash.h"
#include "trainer_sdk/session/launcher_plans.h"

namespace muster {

int DerivedPort(const std::string& job) {
  constexpr uint64_t kLeast = 15000, kPorts = 15000;
  // Not std::hash, which may differ between hosts.
  uint64_t hash = FnvHashOf(job);
  // The low bits depend too strongly on the last characters.
  hash ^= hash >> 32;
  return static_cast<int>(kLeast + hash % kPorts);
}

}  // namespace muster
