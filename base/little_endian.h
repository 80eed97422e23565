#ifndef MUSTER_BASE_LITTLE_ENDIAN_H_
#define MUSTER_BASE_LITTLE_ENDIAN_H_

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace muster {

// Muster's protocols and files are little-endian. PyTorch sends integers in its
// host's byte order, and Muster supports little-endian hosts only.
static_assert(std::endian::native == std::endian::little);

template <typename Integer>
void AppendInteger(Integer value, std::string* out) {
  char bytes[sizeof(value)];
  std::memcpy(bytes, &value, sizeof(value));
  out->append(bytes, sizeof(value));
}

// Reads the integer at the start of `bytes`, which must be long enough.
template <typename Integer>
Integer ReadInteger(std::string_view bytes) {
  Integer value;
  std::memcpy(&value, bytes.data(), sizeof(value));
  return value;
}

// Appends a string or byte array to `out`: its length (u64), then its bytes.
inline void AppendString(std::string_view text, std::string* out) {
  AppendInteger<uint64_t>(text.size(), out);
  out->append(text);
}

}  // namespace muster

#endif  // MUSTER_BASE_LITTLE_ENDIAN_H_
