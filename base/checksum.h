#ifndef MUSTER_BASE_CHECKSUM_H_
#define MUSTER_BASE_CHECKSUM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct XXH3_state_s;

namespace muster {

// The 64-bit XXH3 checksum (xxhash.com) of bytes that are added in pieces.
// Computing the checksum is faster than reading the bytes from memory. Detects
// accidental damage, not forgery.
class Checksum {
 public:
  Checksum();
  void Add(std::string_view bytes);
  uint64_t value() const;

 private:
  struct Free {
    void operator()(XXH3_state_s* state) const;
  };
  std::unique_ptr<XXH3_state_s, Free> state_;
};

// Formats a checksum as sixteen hexadecimal digits: "0123456789abcdef".
std::string ChecksumText(uint64_t checksum);

}  // namespace muster

#endif  // MUSTER_BASE_CHECKSUM_H_
