#ifndef MUSTER_BASE_FNV_HASH_H_
#define MUSTER_BASE_FNV_HASH_H_

#include <cstdint>
#include <string_view>

namespace muster {

// The 64-bit FNV-1a hash. Its value is the same on all machines and builds, so
// that processes can compare hashes. Not secure against an adversary.
class FnvHash {
 public:
  void AddBytes(std::string_view bytes) {
    for (const char c : bytes) AddWord(static_cast<unsigned char>(c));
  }
  // Adds the eight bytes of `number`, the least significant byte first.
  void AddNumber(uint64_t number) {
    for (int i = 0; i < 8; ++i, number >>= 8) AddWord(number & 255);
  }
  // Adds all eight bytes of `word` in one step. This is faster for much data,
  // but gives another hash than adding the bytes one by one.
  void AddWord(uint64_t word) { hash_ = (hash_ ^ word) * 1099511628211u; }

  uint64_t value() const { return hash_; }

 private:
  uint64_t hash_ = 14695981039346656037u;
};

inline uint64_t FnvHashOf(std::string_view bytes) {
  FnvHash hash;
  hash.AddBytes(bytes);
  return hash.value();
}

}  // namespace muster

#endif  // MUSTER_BASE_FNV_HASH_H_
