#include "agent/failures/bounded_text.h"

#include <algorithm>
#include <vector>

#include "agent/logs/terminal_text.h"

namespace muster::agent {
namespace {

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
