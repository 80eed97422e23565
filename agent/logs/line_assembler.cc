#include "agent/logs/line_assembler.h"

#include <algorithm>
#include <utility>

#include "agent/logs/terminal_text.h"

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
    // std::find_if is faster than find_first_of, which calls a library function
    // for each byte.
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

}  // namespace muster::agent
