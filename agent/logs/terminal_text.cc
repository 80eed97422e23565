#include "agent/logs/terminal_text.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <vector>

namespace muster::agent {
namespace {

constexpr char kEscape = '\x1b';
constexpr std::string_view kReset = "\x1b[0m";

bool Between(char c, unsigned low, unsigned high) {
  auto value = static_cast<unsigned char>(c);
  return value >= low && value <= high;
}

size_t SkipWhile(std::string_view text, size_t at, unsigned low,
                 unsigned high) {
  while (at < text.size() && Between(text[at], low, high)) ++at;
  return at;
}

// The length of the escape sequence that begins at text[0] (ECMA-48). If the
// sequence is incomplete, the result is 1: the escape character alone.
size_t EscapeLength(std::string_view text) {
  if (text.size() < 2) return 1;
  char kind = text[1];
  if (kind == '[') {
    size_t at = SkipWhile(text, 2, 0x30, 0x3f);
    at = SkipWhile(text, at, 0x20, 0x2f);
    return at < text.size() && Between(text[at], 0x40, 0x7e) ? at + 1 : 1;
  }
  if (kind == ']' || kind == 'P' || kind == 'X' || kind == '^' || kind == '_') {
    size_t end = text.find_first_of("\x07\x1b", 2);
    if (end == std::string_view::npos) return 1;
    return text[end] == kEscape ? std::min(end + 2, text.size()) : end + 1;
  }
  size_t at = SkipWhile(text, 1, 0x20, 0x2f);
  return at < text.size() && Between(text[at], 0x30, 0x7e) ? at + 1 : 1;
}

bool IsControl(char c) {
  return (Between(c, 0, 0x1f) && c != '\t') || c == '\x7f';
}

// Whether `text` begins with a C1 control character, U+0080 to U+009F; U+009B
// begins an escape sequence.
bool IsC1(std::string_view text) {
  return text.size() >= 2 && text[0] == '\xc2' && Between(text[1], 0x80, 0x9f);
}

bool IsContinuation(char c) { return Between(c, 0x80, 0xbf); }

// The length in bytes that the first byte `lead` announces for a UTF-8
// character; 1 if `lead` does not begin a multi-byte character.
size_t SaidLength(char lead) {
  if (!Between(lead, 0xc2, 0xf4)) return 1;
  return Between(lead, 0xf0, 0xf4) ? 4 : Between(lead, 0xe0, 0xef) ? 3 : 2;
}

// The length in bytes of the valid UTF-8 character at text[0]; 0 if there is
// none.
size_t Utf8Length(std::string_view text) {
  auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return 1;
  size_t length = SaidLength(text[0]);
  if (length == 1 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if (!IsContinuation(text[i])) return 0;
  }
  auto second = static_cast<unsigned char>(text[1]);
  bool overlong =
      (lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90);
  bool surrogate = lead == 0xed && second > 0x9f;
  bool too_large = lead == 0xf4 && second > 0x8f;
  return overlong || surrogate || too_large ? 0 : length;
}

constexpr std::string_view kMore = "...";

// Removes control characters, invalid UTF-8 and blanks at the end. To keep the
// call cheap, callers cut a long line before they pass it.
std::string Clean(std::string_view line) {
  std::string clean = ValidUtf8(WithoutControls(line, Colours::kDrop));
  clean.erase(clean.find_last_not_of(" \t\r") + 1);
  return clean;
}

std::string CutTo(std::string line, size_t max_bytes) {
  if (line.size() <= max_bytes) return line;
  const size_t room = max_bytes - std::min(max_bytes, kMore.size());
  std::string cut(WholeCharacters(std::string_view(line).substr(0, room)));
  cut += kMore.substr(0, max_bytes);
  return cut;
}

}  // namespace

std::string WithoutControls(std::string_view text, Colours colours) {
  std::string clean;
  clean.reserve(text.size());
  bool coloured = false;
  for (size_t i = 0; i < text.size();) {
    if (text[i] == kEscape) {
      std::string_view escape = text.substr(i, EscapeLength(text.substr(i)));
      bool sgr = escape.size() > 2 && escape[1] == '[' && escape.back() == 'm';
      if (sgr && colours == Colours::kKeep) {
        clean.append(escape);
        coloured = true;
      }
      i += escape.size();
    } else if (IsC1(text.substr(i))) {
      i += 2;
    } else {
      if (clean.ends_with('\xc2') && Between(text[i], 0x80, 0x9f)) {
        // A control character between the byte 0xc2 and this byte was removed.
        // Together the two bytes would now form a C1 control character, so both
        // are dropped.
        clean.pop_back();
      } else if (!IsControl(text[i])) {
        clean.push_back(text[i]);
      }
      ++i;
    }
  }
  if (coloured && !clean.ends_with(kReset) && !clean.ends_with("\x1b[m")) {
    clean.append(kReset);
  }
  return clean;
}

std::string ValidUtf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    size_t length = Utf8Length(text);
    if (length == 0) {
      valid.append("\xef\xbf\xbd");
      text.remove_prefix(1);
    } else {
      valid.append(text.substr(0, length));
      text.remove_prefix(length);
    }
  }
  return valid;
}

std::string_view WholeCharacters(std::string_view text) {
  for (size_t back = 1; back <= 3 && back < text.size(); ++back) {
    char last = text[text.size() - back];
    if (IsContinuation(last)) continue;
    bool unfinished = back < SaidLength(last);
    return unfinished ? text.substr(0, text.size() - back) : text;
  }
  return text;
}

std::string_view WithoutUnfinishedEscape(std::string_view text) {
  const size_t at = text.rfind(kEscape);
  if (at == std::string_view::npos) return text;
  const std::string_view escape = text.substr(at);
  const bool unfinished =
      escape.size() == 1 ||
      (escape[1] == '[' && SkipWhile(escape, 2, 0x20, 0x3f) == escape.size());
  return unfinished ? text.substr(0, at) : text;
}

namespace {

struct Range {
  uint32_t first;
  uint32_t last;
};

// The characters of Unicode's category Cf (format), and the line and paragraph
// separators.
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

std::string BoundedLine(std::string_view text, size_t max_bytes) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    std::string clean = Clean(line.substr(0, 4 * max_bytes));
    clean.erase(0, clean.find_first_not_of(" \t"));
    if (!clean.empty()) return CutTo(std::move(clean), max_bytes);
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return "";
}

std::string BoundedIndentedLine(std::string_view line, size_t max_bytes) {
  const size_t blanks = line.find_first_not_of(' ');
  if (blanks == std::string_view::npos) return "";
  const size_t indent = std::min(blanks, max_bytes / 4);
  return std::string(indent, ' ') + BoundedLine(line, max_bytes - indent);
}

std::vector<std::string> BoundedLastLines(const std::vector<std::string>& lines,
                                          size_t max_lines, size_t max_bytes) {
  std::vector<std::string> bounded;
  for (size_t i = lines.size() - std::min(lines.size(), max_lines);
       i < lines.size(); ++i) {
    bounded.push_back(BoundedIndentedLine(lines[i], max_bytes));
  }
  return bounded;
}

std::string BoundedTail(std::string_view text, size_t max_bytes) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) {
    text.remove_suffix(1);
  }
  // collected lines, the last line of the text first
  std::vector<std::string> lines;
  size_t bytes = 0;
  bool more = false;
  while (!text.empty()) {
    // The position at which the last line of `text` begins; 0 if `text` is a
    // single line.
    const size_t begin = text.rfind('\n') + 1;
    std::string line =
        CutTo(Clean(text.substr(begin, 4 * max_bytes)),
              std::max(max_bytes / 4, std::min<size_t>(max_bytes, 400)));
    text = begin == 0 ? std::string_view() : text.substr(0, begin - 1);
    const size_t reserve = text.empty() ? 0 : kMore.size() + 1;
    if (bytes + line.size() + 1 + reserve > max_bytes) {
      more = true;
      break;
    }
    bytes += line.size() + 1;
    lines.push_back(std::move(line));
  }
  std::string tail = more ? std::string(kMore) : "";
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    if (!tail.empty() || line != lines.rbegin()) tail += '\n';
    tail += *line;
  }
  return tail;
}

}  // namespace muster::agent
