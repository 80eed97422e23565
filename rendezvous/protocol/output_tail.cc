#include "rendezvous/protocol/output_tail.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace muster::rendezvous {
namespace {

bool ContinuesCharacter(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

// Cuts a line that is too long. If the line is UTF-8, cuts it between two
// characters.
void Cut(std::string* text) {
  if (text->size() <= OutputTail::kMaxLineBytes) return;
  constexpr size_t kMaxCharacterBytes = 4;
  size_t end = OutputTail::kMaxLineBytes;
  const size_t least = end - kMaxCharacterBytes;
  while (end > least && ContinuesCharacter((*text)[end])) --end;
  const size_t rest = text->size() - end;
  text->resize(end);
  absl::StrAppend(text, " [... ", rest, " bytes more]");
}

}  // namespace

void OutputTail::Add(InquiryUpdate update) {
  for (OutputLine& line : update.part.lines) {
    Cut(&line.text);
    bytes_ += line.text.size();
    lines_.push_back(std::move(line));
    while (lines_.size() > kMaxLines || bytes_ > kMaxBytes) {
      bytes_ -= lines_.front().text.size();
      lines_.pop_front();
      ++dropped_;
    }
  }
  for (std::string& note : update.part.notes) {
    note_ = absl::StrCat(update.host, ": ", note);
  }
  if (!update.missing.empty()) {
    note_ = absl::StrCat(update.host, ": ", update.missing);
  }
}

}  // namespace muster::rendezvous
