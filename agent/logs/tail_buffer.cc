#include "agent/logs/tail_buffer.h"

#include <algorithm>
#include <utility>

#include "agent/logs/terminal_text.h"
#include "rendezvous/protocol/failure.h"

namespace muster::agent {
namespace {

constexpr std::string_view kCutMark = "...";

// The text that a terminal would show for a line in which "\r" returned to its
// start.
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
