#include "models/text/byte_characters.h"

#include <utf8proc.h>

#include <array>
#include <cstdint>

namespace muster::models {
namespace {

constexpr int kFirstStandIn = 0x100;

constexpr bool StandsForItself(int byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte <= 0xac) ||
         byte >= 0xae;
}

constexpr std::array<int, 256> MakeCharacters() {
  std::array<int, 256> characters = {};
  int stand_in = kFirstStandIn;
  for (int byte = 0; byte < 256; ++byte) {
    characters[byte] = StandsForItself(byte) ? byte : stand_in++;
  }
  return characters;
}

constexpr std::array<int, 256> kCharacters = MakeCharacters();
// 68 bytes are spelled by substitutes.
constexpr int kEnd = kFirstStandIn + 68;

constexpr std::array<int, kEnd> MakeBytes() {
  std::array<int, kEnd> bytes = {};
  for (int& byte : bytes) byte = -1;
  for (int byte = 0; byte < 256; ++byte) bytes[kCharacters[byte]] = byte;
  return bytes;
}

constexpr std::array<int, kEnd> kBytes = MakeBytes();

}  // namespace

std::string CharacterOfByte(unsigned char byte) {
  utf8proc_uint8_t utf8[4];
  const utf8proc_ssize_t length = utf8proc_encode_char(kCharacters[byte], utf8);
  return std::string(reinterpret_cast<const char*>(utf8),
                     static_cast<size_t>(length));
}

std::optional<std::string> BytesOfCharacters(std::string_view characters) {
  std::string bytes;
  while (!characters.empty()) {
    utf8proc_int32_t character;
    const utf8proc_ssize_t length = utf8proc_iterate(
        reinterpret_cast<const utf8proc_uint8_t*>(characters.data()),
        static_cast<utf8proc_ssize_t>(characters.size()), &character);
    if (length <= 0 || character >= kEnd || kBytes[character] < 0) {
      return std::nullopt;
    }
    bytes.push_back(static_cast<char>(kBytes[character]));
    characters.remove_prefix(static_cast<size_t>(length));
  }
  return bytes;
}

}  // namespace muster::models
