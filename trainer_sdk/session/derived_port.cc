#include <cstdint>

#include "trainer_sdk/session/launcher_plans.h"

namespace muster {

int DerivedPort(const std::string& job) {
  constexpr uint64_t kLeast = 15000, kPorts = 15000;
  // FNV-1a: the same everywhere, which std::hash does not promise.
  uint64_t hash = 14695981039346656037u;
  for (const char c : job) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  }
  // Its low bits follow the last characters too closely.
  hash ^= hash >> 32;
  return static_cast<int>(kLeast + hash % kPorts);
}

}  // namespace muster
