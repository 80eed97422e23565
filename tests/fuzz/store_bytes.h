#ifndef MUSTER_TESTS_FUZZ_STORE_BYTES_H_
#define MUSTER_TESTS_FUZZ_STORE_BYTES_H_

#include <cstdint>
#include <random>
#include <string>

namespace muster {

// Bytes as clients of a store send them, nearly: mostly whole requests of few
// keys, in either framing; some truncated, some with absurd lengths, some
// noise. The same seed gives the same bytes.
class StoreBytes {
 public:
  explicit StoreBytes(uint64_t seed) : random_(seed) {}

  // A number below `bound`.
  uint64_t Below(uint64_t bound) { return random_() % bound; }
  // What a connection begins with: a greeting as a rule.
  std::string Opening();
  // One request, or what looks like it.
  std::string Request();
  // One well-formed request.
  std::string SoundRequest();

 private:
  std::string Key();

  std::mt19937_64 random_;
};

}  // namespace muster

#endif  // MUSTER_TESTS_FUZZ_STORE_BYTES_H_
