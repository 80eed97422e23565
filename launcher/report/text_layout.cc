#include "launcher/report/text_layout.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string_view>

#include "agent/logs/terminal_text.h"
#include "base/environment_value.h"

namespace muster::launcher {
namespace {

const char* Code(Ink ink) {
  switch (ink) {
    case Ink::kRed:
      return "\x1b[1;31m";
    case Ink::kGreen:
      return "\x1b[1;32m";
    case Ink::kYellow:
      return "\x1b[1;33m";
    case Ink::kBold:
      return "\x1b[1m";
    case Ink::kFaint:
      return "\x1b[2m";
  }
  return "";
}

}  // namespace

std::string Inked(const std::string& text, Ink ink, TextStyle style) {
  if (style == TextStyle::kPlain || text.empty()) return text;
  return Code(ink) + text + "\x1b[0m";
}

TextTarget TargetOf(int fd) {
  TextTarget target;
  if (isatty(fd) != 1) return target;
  bool wanted = EnvironmentVariable("NO_COLOR").empty() &&
                EnvironmentVariable("TERM") != "dumb";
  if (wanted) target.style = TextStyle::kColoured;
  winsize size = {};
  if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    target.columns = std::clamp<int>(size.ws_col, 60, 100);
  }
  return target;
}

namespace {

std::string Format(const char* format, int64_t large, int64_t small) {
  char text[64];
  std::snprintf(text, sizeof text, format, static_cast<long long>(large),
                static_cast<long long>(small));
  return text;
}

}  // namespace

std::string DurationText(Duration duration) {
  using std::chrono::duration_cast;
  int64_t hundredths =
      duration_cast<std::chrono::milliseconds>(duration).count() / 10;
  hundredths = std::max<int64_t>(hundredths, 0);
  int64_t seconds = hundredths / 100;
  if (seconds < 1) return Format("%lld.%02llds", 0, hundredths);
  if (seconds < 60) return Format("%lld.%llds", seconds, hundredths / 10 % 10);
  int64_t minutes = seconds / 60;
  if (minutes < 60) return Format("%lldm %02llds", minutes, seconds % 60);
  int64_t hours = minutes / 60;
  if (hours < 24) return Format("%lldh %02lldm", hours, minutes % 60);
  return Format("%lldd %02lldh", hours / 24, hours % 24);
}

namespace {

bool BeginsCharacter(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
}

// Ranges of characters that take two columns of a terminal: those of East Asian
// scripts, their full-width forms, and emoji (Unicode's East_Asian_Width W and
// F, rounded to whole blocks). Ordered.
struct Range {
  char32_t first;
  char32_t last;
};
constexpr Range kWide[] = {
    {0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0x4DBF},
    {0x4E00, 0xA4CF},   {0xA960, 0xA97F},   {0xAC00, 0xD7A3},
    {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF01, 0xFF60},
    {0xFFE0, 0xFFE6},   {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF},
    {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD},
};

// The number of terminal columns of the character that begins at `text[at]`.
// `text` must be valid UTF-8.
int WidthAt(std::string_view text, size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  if (lead < 0xE1) return 1;  // Characters below U+1000 take one column.
  char32_t character = lead & (lead < 0xF0 ? 0x0F : 0x07);
  for (size_t i = at + 1; i < text.size() && !BeginsCharacter(text[i]); ++i) {
    character = character << 6 | (text[i] & 0x3F);
  }
  return std::any_of(std::begin(kWide), std::end(kWide),
                     [character](const Range& range) {
                       return range.first <= character &&
                              character <= range.last;
                     })
             ? 2
             : 1;
}

// Returns the number of leading bytes of `text` whose characters fit into
// `columns`.
size_t ByteAfter(std::string_view text, int columns) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (!BeginsCharacter(text[i])) continue;
    columns -= WidthAt(text, i);
    if (columns < 0) return i;
  }
  return text.size();
}

std::string WithoutTabs(std::string_view text) {
  std::string result;
  for (char c : text) {
    if (c == '\t') {
      result.append("    ");
    } else {
      result.push_back(c);
    }
  }
  return result;
}

std::string Printable(std::string_view line) {
  std::string clean = agent::ForTerminal(WithoutTabs(line));
  clean.erase(clean.find_last_not_of(' ') + 1);
  return clean;
}

std::string_view WithoutLeadingBlanks(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(' '), text.size()));
}

// Returns the offset at which to break `line`, which is wider than `columns`.
// Normally this is the last blank that fits. But if the text before this blank
// takes at most half of `columns`, the next word is very long, often a path.
// The line is then broken after that word. If no blank follows the word,
// returns the size of `line`.
size_t BreakAt(std::string_view line, int columns) {
  size_t most = ByteAfter(line, columns);
  size_t blank = line.rfind(' ', most);
  size_t first = line.find_first_not_of(' ');
  bool fits = blank != std::string_view::npos && blank > first &&
              2 * Columns(line.substr(0, blank)) > columns;
  return fits ? blank : std::min(line.find(' ', most), line.size());
}

}  // namespace

int Columns(std::string_view text) {
  int columns = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (BeginsCharacter(text[i])) columns += WidthAt(text, i);
  }
  return columns;
}

std::vector<std::string> PrintableLines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    std::string line = Printable(text.substr(0, end));
    if (!line.empty() || !lines.empty()) lines.push_back(std::move(line));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

std::string PrintableLine(std::string_view text) {
  std::string joined;
  for (const std::string& line : PrintableLines(text)) {
    if (!joined.empty()) joined.push_back(' ');
    joined.append(line);
  }
  return joined;
}

std::vector<std::string> Wrap(std::string_view line, int columns, int hang) {
  columns = std::max(columns, hang + 8);
  std::vector<std::string> pieces;
  size_t leading = std::min(line.find_first_not_of(' '), line.size());
  // Indentation of all pieces except the first. At most half as wide as
  // `columns`.
  std::string indent(std::min<size_t>(leading + hang, columns / 2), ' ');
  std::string rest(line);
  while (Columns(rest) > columns) {
    size_t at = BreakAt(rest, columns);
    if (at == rest.size()) break;
    std::string piece = rest.substr(0, at);
    piece.erase(piece.find_last_not_of(' ') + 1);
    pieces.push_back(std::move(piece));
    std::string_view after = std::string_view(rest).substr(at);
    rest = indent + std::string(WithoutLeadingBlanks(after));
  }
  pieces.push_back(std::move(rest));
  return pieces;
}

std::string PadRight(std::string_view text, int columns) {
  int missing = std::max(columns - Columns(text), 0);
  return std::string(text) + std::string(missing, ' ');
}

std::string Shorten(std::string_view text, int columns) {
  if (Columns(text) <= columns) return std::string(text);
  size_t kept = ByteAfter(text, std::max(columns - 3, 0));
  return std::string(text.substr(0, kept)) + "...";
}

std::string ProgramName(std::string_view path, int columns) {
  if (Columns(path) <= columns) return std::string(path);
  const size_t slash = path.rfind('/');
  const bool has_file =
      slash != std::string_view::npos && slash + 1 < path.size();
  return Shorten(has_file ? path.substr(slash + 1) : path, columns);
}

std::vector<std::string> AlignRows(
    const std::vector<std::vector<std::string>>& rows) {
  std::vector<int> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], Columns(row[i]));
    }
  }
  std::vector<std::string> lines;
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      line.append(PadRight(row[i], widths[i] + 2));
    }
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(std::move(line));
  }
  return lines;
}

namespace {

constexpr int kLabelColumns = 13;
constexpr int kIndentColumns = 2;
constexpr int kHangColumns = 2;

}  // namespace

void FramedText::Add(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  text_ += line + "\n";
}

void FramedText::Rule(char c) {
  Add(Inked(std::string(target_.columns, c), Ink::kFaint, target_.style));
}

void FramedText::Blank() { Add(""); }

void FramedText::Title(const std::string& left, Ink ink,
                       const std::string& right) {
  int gap = target_.columns - Columns(left) - Columns(right);
  Add(Inked(left, ink, target_.style) + PadRight("", gap) + right);
}

void FramedText::Heading(const std::string& text, const std::string& remark,
                         Ink ink) {
  Add(Inked(text, ink, target_.style) + " (" + remark + ")");
}

void FramedText::Paragraph(std::string_view text) {
  for (const std::string& line : PrintableLines(text)) {
    for (const std::string& piece : Wrap(line, target_.columns, 0)) Add(piece);
  }
}

void FramedText::Field(const std::string& label,
                       const std::vector<std::string>& lines) {
  std::string margin(kIndentColumns, ' ');
  std::string shown = PadRight(label, kLabelColumns);
  int room = target_.columns - kIndentColumns - kLabelColumns;
  for (const std::string& line : lines) {
    for (const std::string& piece : Wrap(line, room, kHangColumns)) {
      Add(margin + Inked(shown, Ink::kFaint, target_.style) + piece);
      shown = std::string(kLabelColumns, ' ');
    }
  }
}

void FramedText::Quote(const std::string& label,
                       const std::vector<std::string>& lines) {
  const std::string margin(kIndentColumns, ' ');
  std::string shown = PadRight(label, kLabelColumns);
  for (const std::string& line : lines) {
    Add(margin + Inked(shown, Ink::kFaint, target_.style) + line);
    shown = std::string(kLabelColumns, ' ');
  }
}

void FramedText::Indented(const std::string& line) {
  int room = target_.columns - kIndentColumns;
  for (const std::string& piece : Wrap(line, room, kHangColumns)) {
    Add(std::string(kIndentColumns, ' ') + piece);
  }
}

}  // namespace muster::launcher
