#include "agent/logs/open_line.h"

#include <utility>

namespace muster::agent {
namespace {

// The bytes that move the cursor to the first column and clear the line
// (ECMA-48).
constexpr char kStartAgain[] = "\r\x1b[K";

}  // namespace

std::string OpenLine::BeforeLines() {
  return std::exchange(stream_, 0) == 0 ? "" : "\n";
}

std::string OpenLine::Compose(const LinePart& part) {
  const bool is_own = stream_ == part.stream;
  const bool redraws = part.place == LinePart::Place::kRedraws;
  std::string bytes;
  if (is_own && !redraws) {
    bytes = part.text;
  } else if (is_own && redraw_ == Redraw::kReplace) {
    bytes = kStartAgain + part.prefix + part.text;
  } else {
    // Nothing is left to write if `part` has no text and only ends the line of
    // its stream: the text of another stream has already ended this line on the
    // console.
    if (part.text.empty() && part.ends && !is_own) return "";
    bytes = BeforeLines() + part.prefix + part.text;
  }
  if (part.ends) bytes.push_back('\n');
  stream_ = part.ends ? 0 : part.stream;
  return bytes;
}

}  // namespace muster::agent
