#include "models/text/text_pieces.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>

#include "base/check.h"

namespace muster::models {
namespace {

enum class CharacterClass : unsigned char { kLetter, kNumber, kSpace, kOther };

struct Character {
  CharacterClass kind = CharacterClass::kOther;
  // Number of bytes of the character.
  size_t length = 1;
};

constexpr bool IsAsciiSpace(unsigned char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

constexpr std::array<CharacterClass, 128> MakeAscii() {
  std::array<CharacterClass, 128> classes = {};
  for (int c = 0; c < 128; ++c) {
    CharacterClass& kind = classes[c];
    kind = CharacterClass::kOther;
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      kind = CharacterClass::kLetter;
    } else if (c >= '0' && c <= '9') {
      kind = CharacterClass::kNumber;
    } else if (IsAsciiSpace(static_cast<unsigned char>(c))) {
      kind = CharacterClass::kSpace;
    }
  }
  return classes;
}

constexpr std::array<CharacterClass, 128> kAscii = MakeAscii();

CharacterClass ClassOf(utf8proc_int32_t character) {
  // U+0085 is white space (Unicode's White_Space), but belongs to no separator
  // category. It is the only such character beyond ASCII.
  if (character == 0x85) return CharacterClass::kSpace;
  switch (utf8proc_category(character)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      return CharacterClass::kLetter;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return CharacterClass::kNumber;
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return CharacterClass::kSpace;
    default:
      return CharacterClass::kOther;
  }
}

// The first character of `text`, which must not be empty.
Character First(std::string_view text) {
  const auto byte = static_cast<unsigned char>(text[0]);
  if (byte < kAscii.size()) return {kAscii[byte], 1};
  utf8proc_int32_t character;
  // utf8proc reads at most four bytes, because no character of UTF-8 is longer.
  const utf8proc_ssize_t length = utf8proc_iterate(
      reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
      static_cast<utf8proc_ssize_t>(std::min<size_t>(text.size(), 4)),
      &character);
  if (length <= 0) return {};
  return {ClassOf(character), static_cast<size_t>(length)};
}

// Returns the length of the contraction ('s 't 're 've 'm 'll 'd) at the
// beginning of `text`; 0 if there is none.
size_t Contraction(std::string_view text) {
  if (text.size() < 2 || text[0] != '\'') return 0;
  switch (text[1]) {
    case 's':
    case 't':
    case 'm':
    case 'd':
      return 2;
    case 'r':
    case 'v':
      return text.size() > 2 && text[2] == 'e' ? 3 : 0;
    case 'l':
      return text.size() > 2 && text[2] == 'l' ? 3 : 0;
    default:
      return 0;
  }
}

// Returns the length of the first piece of a text that begins with white space.
// The piece ends before the last character of this white space, which belongs
// to the next piece. Exceptions: if the white space is a single character, or
// the whole text, all of it is one piece.
size_t SpaceRun(std::string_view text) {
  size_t end = 0;
  size_t last = 0;
  while (end < text.size()) {
    const Character next = First(text.substr(end));
    if (next.kind != CharacterClass::kSpace) return last > 0 ? last : end;
    last = end;
    end += next.length;
  }
  return end;
}

size_t PieceLength(std::string_view text) {
  if (const size_t length = Contraction(text); length > 0) return length;
  // A piece of letters, of numbers or of other characters may begin with one
  // space.
  size_t end = text[0] == ' ' && text.size() > 1 ? 1 : 0;
  const Character first = First(text.substr(end));
  if (first.kind == CharacterClass::kSpace) return SpaceRun(text);
  while (end < text.size()) {
    const Character next = First(text.substr(end));
    if (next.kind != first.kind) break;
    end += next.length;
  }
  return end;
}

// Whether the character that ends directly before `at` is valid and not white
// space.
bool EndsWithVisible(std::string_view text, size_t at) {
  for (size_t begin = at; begin > 0 && at - begin < 4;) {
    --begin;
    // A continuation byte of UTF-8 belongs to a character that begins earlier,
    // so try the byte before it.
    if ((static_cast<unsigned char>(text[begin]) & 0xc0) == 0x80) continue;
    const Character last = First(text.substr(begin));
    return begin + last.length == at && last.kind != CharacterClass::kSpace;
  }
  return false;
}

}  // namespace

std::string_view TakePiece(std::string_view* text) {
  MUSTER_CHECK(!text->empty());
  const std::string_view piece = text->substr(0, PieceLength(*text));
  text->remove_prefix(piece.size());
  return piece;
}

size_t WholePieces(std::string_view text, size_t most) {
  if (text.size() <= most) return text.size();
  // Within a piece, white space never follows a character that is not white
  // space. So the text can be split in front of white space that follows such a
  // character (EndsWithVisible).
  for (size_t at = most; at > 0; --at) {
    if (IsAsciiSpace(static_cast<unsigned char>(text[at])) &&
        EndsWithVisible(text, at)) {
      return at;
    }
  }
  return 0;
}

}  // namespace muster::models
