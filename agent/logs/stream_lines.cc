#include "agent/logs/stream_lines.h"

#include <algorithm>
#include <utility>

#include "agent/logs/terminal_text.h"
#include "rendezvous/protocol/failure.h"

namespace muster::agent {
namespace {

bool IsBlank(std::string_view text) {
  return text.find_first_not_of(" \t") == std::string_view::npos;
}

bool EndsText(char c) { return c == '\n' || c == '\r'; }

}  // namespace

void LineAssembler::Grow(std::string_view bytes, std::vector<Line>* lines) {
  while (partial_.size() + bytes.size() > max_bytes_) {
    size_t room = max_bytes_ - partial_.size();
    partial_.append(bytes.substr(0, room));
    bytes.remove_prefix(room);
    size_t cut = WholeCharacters(partial_).size();
    std::string rest = partial_.substr(cut);
    partial_.resize(cut);
    lines->push_back({std::move(partial_), LineEnd::kCut});
    partial_ = std::move(rest);
  }
  partial_.append(bytes);
}

void LineAssembler::EndOverwritten(std::vector<Line>* lines) {
  if (!IsBlank(partial_)) {
    lines->push_back({std::move(partial_), LineEnd::kOverwritten});
  }
  partial_.clear();
}

std::vector<Line> LineAssembler::Append(std::string_view bytes) {
  std::vector<Line> lines;
  while (!bytes.empty()) {
    if (after_return_ && bytes.front() != '\n' && bytes.front() != '\r') {
      EndOverwritten(&lines);
      after_return_ = false;
    }
    // Uses std::find_if, because find_first_of is slower: it calls a library
    // function for each byte.
    size_t end =
        std::find_if(bytes.begin(), bytes.end(), EndsText) - bytes.begin();
    if (end == bytes.size()) {
      Grow(bytes, &lines);
      break;
    }
    Grow(bytes.substr(0, end), &lines);
    if (bytes[end] == '\r') {
      after_return_ = true;
    } else {
      lines.push_back({std::move(partial_), LineEnd::kNewline});
      partial_.clear();
      after_return_ = false;
    }
    bytes.remove_prefix(end + 1);
  }
  return lines;
}

std::string_view LineAssembler::Partial() const {
  std::string_view text = WithoutUnfinishedEscape(partial_);
  text = WholeCharacters(text);
  return IsBlank(text) ? std::string_view() : text;
}

std::optional<Line> LineAssembler::Finish() {
  after_return_ = false;
  if (IsBlank(partial_)) {
    partial_.clear();
    return std::nullopt;
  }
  Line line{std::move(partial_), LineEnd::kStreamEnd};
  partial_.clear();
  return line;
}

namespace {

constexpr std::string_view kCutMark = "...";

// The text that a terminal would show for a line in which "\r" returned the
// cursor to the line's start.
std::string_view LastDrawn(std::string_view line) {
  while (!line.empty()) {
    size_t last = line.rfind('\r');
    if (last == std::string_view::npos) return line;
    std::string_view drawn = line.substr(last + 1);
    if (drawn.find_first_not_of(" \t") != std::string_view::npos) return drawn;
    line = line.substr(0, last);
  }
  return line;
}

std::string Cleaned(std::string_view line) {
  std::string clean =
      ValidUtf8(WithoutControls(LastDrawn(line), Colours::kDrop));
  clean.erase(clean.find_last_not_of(" \t") + 1);
  if (clean.size() > rendezvous::kMaxLineBytes) {
    clean.resize(rendezvous::kMaxLineBytes - kCutMark.size());
    clean.resize(WholeCharacters(clean).size());
    clean.append(kCutMark);
  }
  return clean;
}

}  // namespace

void TailBuffer::Append(std::string_view bytes) {
  if (bytes.size() > kKeptBytes) bytes.remove_prefix(bytes.size() - kKeptBytes);
  if (bytes_.size() + bytes.size() > 2 * kKeptBytes) {
    bytes_.erase(0, bytes_.size() + bytes.size() - kKeptBytes);
  }
  bytes_.append(bytes);
}

std::vector<std::string> TailBuffer::Lines() const {
  std::vector<std::string> lines;
  std::string_view rest = bytes_;
  while (!rest.empty() && lines.size() < rendezvous::kMaxStderrLines) {
    size_t newline = rest.rfind('\n');
    bool first = newline == std::string_view::npos;
    std::string_view line = first ? rest : rest.substr(newline + 1);
    std::string clean = Cleaned(line);
    if (!clean.empty()) lines.push_back(std::move(clean));
    rest = first ? std::string_view() : rest.substr(0, newline);
  }
  std::reverse(lines.begin(), lines.end());
  return lines;
}

}  // namespace muster::agent
