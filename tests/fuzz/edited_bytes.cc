#include "tests/fuzz/edited_bytes.h"

#include <algorithm>
#include <cstddef>

namespace muster {

std::string EditedBytes(std::string_view sound, std::string_view input) {
  std::string edited(sound);
  while (input.size() >= 4) {
    const auto byte = [&](size_t i) {
      return static_cast<size_t>(static_cast<unsigned char>(input[i]));
    };
    const size_t place = (byte(0) << 8 | byte(1)) % (edited.size() + 1);
    const size_t removed = byte(2) % 16;
    const size_t put = std::min(byte(3) % 16, input.size() - 4);
    edited.replace(place, std::min(removed, edited.size() - place),
                   input.substr(4, put));
    input.remove_prefix(4 + put);
  }
  return edited;
}

}  // namespace muster
