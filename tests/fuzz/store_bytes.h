#ifndef MUSTER_TESTS_FUZZ_STORE_BYTES_H_
#define MUSTER_TESTS_FUZZ_STORE_BYTES_H_

#include <cstdint>
#include <random>
#include <string>

namespace muster {

// Generates random bytes that resemble what clients send to a store. Most are
// whole requests with few different keys. Some requests are truncated, some
// lengths are absurd, and some bytes are noise. The same seed gives the same
// bytes.
class StoreBytes {
 public:
  explicit StoreBytes(uint64_t seed) : random_(seed) {}

  // Returns a random number below `bound`.
  uint64_t Below(uint64_t bound) { return random_() % bound; }
  // Returns the first bytes of a connection: VALIDATE, or in a quarter of the
  // cases nothing.
  std::string Opening();
  // Returns one request, or bytes similar to a request.
  std::string Request();
  // Returns one well-formed request.
  std::string SoundRequest();

 private:
  std::string Key();

  std::mt19937_64 random_;
};

}  // namespace muster

#endif  // MUSTER_TESTS_FUZZ_STORE_BYTES_H_
