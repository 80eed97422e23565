#include "tests/fuzz/edited_bytes.h"

#include <algorithm>
#include <cstddef>
#include <random>

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

std::string DrawnEdits(uint64_t seed, std::span<const std::string_view> pieces,
                       const EditBounds& bounds) {
  std::mt19937_64 random(seed);
  const auto below = [&random](int bound) {
    return static_cast<int>(random() % static_cast<uint64_t>(bound));
  };
  std::string edits;
  for (int left = 1 + below(bounds.max_edits); left > 0; --left) {
    const std::string_view piece = pieces[random() % pieces.size()];
    const int place = below(bounds.places);
    edits.push_back(static_cast<char>(place / 256));
    edits.push_back(static_cast<char>(place % 256));
    edits.push_back(static_cast<char>(below(bounds.removed)));
    edits.push_back(static_cast<char>(piece.size()));
    edits += piece;
  }
  return edits;
}

}  // namespace muster
