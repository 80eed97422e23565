#include "launcher/report/text_layout.h"

#include <algorithm>

#include "agent/logs/format_characters.h"

namespace muster::launcher {
namespace {

bool BeginsCharacter(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
}

// Byte offset of the first character after `columns` characters.
size_t ByteAfter(std::string_view text, int columns) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (BeginsCharacter(text[i]) && columns-- == 0) return i;
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

// Returns the offset at which to break `line`, which is too long: the last
// blank that fits. If the piece before that blank would be less than half full,
// the word after the blank is very long (often a path); the line is then broken
// after that word. Returns the size of `line` if there is no such offset.
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
  return static_cast<int>(
      std::count_if(text.begin(), text.end(), BeginsCharacter));
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
  // The indentation takes at most half of the width.
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

}  // namespace muster::launcher
