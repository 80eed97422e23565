#ifndef MUSTER_BASE_LITTLE_ENDIAN_H_
#define MUSTER_BASE_LITTLE_ENDIAN_H_

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace muster {

// Wires and files are little-endian, and PyTorch sends its own host's order:
// there is no big-endian peer to talk to.
static_assert(std::endian::native == std::endian::little);

template <typename Integer>
void AppendInteger(Integer value, std::string* out) {
  char bytes[sizeof(value)];
  std::memcpy(bytes, &value, sizeof(value));
  out->append(bytes, sizeof(value));
}

// The integer that `bytes` begins with; it must hold one.
template <typename Integer>
Integer ReadInteger(std::string_view bytes) {
  Integer value;
  std::memcpy(&value, bytes.data(), sizeof(value));
  return value;
}

// A string or byte array: u64 length and its bytes.
inline void AppendString(std::string_view text, std::string* out) {
  AppendInteger<uint64_t>(text.size(), out);
  out->append(text);
}

}  // namespace muster

#endif  // MUSTER_BASE_LITTLE_ENDIAN_H_
