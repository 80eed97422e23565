#include "agent/logs/format_characters.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iterator>

#include "agent/logs/terminal_text.h"

namespace muster::agent {
namespace {

struct Range {
  uint32_t first;
  uint32_t last;
};

// Unicode's category Cf, and the line and paragraph separators.
constexpr Range kFormats[] = {
    {0xad, 0xad},       {0x600, 0x605},     {0x61c, 0x61c},
    {0x6dd, 0x6dd},     {0x70f, 0x70f},     {0x890, 0x891},
    {0x8e2, 0x8e2},     {0x180e, 0x180e},   {0x200b, 0x200f},
    {0x2028, 0x202e},   {0x2060, 0x206f},   {0xfeff, 0xfeff},
    {0xfff9, 0xfffb},   {0x110bd, 0x110bd}, {0x110cd, 0x110cd},
    {0x13430, 0x1343f}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a},
    {0xe0001, 0xe0001}, {0xe0020, 0xe007f},
};

bool IsFormat(uint32_t character) {
  return std::any_of(std::begin(kFormats), std::end(kFormats),
                     [character](const Range& range) {
                       return character >= range.first &&
                              character <= range.last;
                     });
}

// Removes and returns the first character of `text`, which is valid UTF-8 and
// not empty.
uint32_t TakeCharacter(std::string_view& text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  uint32_t character = length == 1 ? lead : lead & (0xffU >> (length + 1));
  for (size_t i = 1; i < std::min(length, text.size()); ++i) {
    character = character << 6 | (static_cast<unsigned char>(text[i]) & 0x3fU);
  }
  text.remove_prefix(std::min(length, text.size()));
  return character;
}

}  // namespace

std::string WithVisibleFormats(std::string_view text) {
  std::string visible;
  visible.reserve(text.size());
  while (!text.empty()) {
    const std::string_view before = text;
    const uint32_t character = TakeCharacter(text);
    if (!IsFormat(character)) {
      visible.append(before.substr(0, before.size() - text.size()));
      continue;
    }
    char number[16];
    std::snprintf(number, sizeof number, "<U+%04X>", character);
    visible.append(number);
  }
  return visible;
}

std::string ForTerminal(std::string_view text) {
  std::string shown;
  for (;;) {
    const size_t end = std::min(text.find('\n'), text.size());
    shown += WithVisibleFormats(
        ValidUtf8(WithoutControls(text.substr(0, end), Colours::kDrop)));
    if (end == text.size()) return shown;
    shown += '\n';
    text.remove_prefix(end + 1);
  }
}

}  // namespace muster::agent
