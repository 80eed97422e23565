#include <cstdint>

#include "base/fnv_hash.h"
#include "trainer_sdk/session/launcher_plans.h"

namespace muster {

int DerivedPort(const std::string& job) {
  constexpr uint64_t kLeast = 15000, kPorts = 15000;
  // The same everywhere, which std::hash does not promise.
  uint64_t hash = FnvHashOf(job);
  // Its low bits follow the last characters too closely.
  hash ^= hash >> 32;
  return static_cast<int>(kLeast + hash % kPorts);
}

}  // namespace muster
