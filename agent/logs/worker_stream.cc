#include "agent/logs/worker_stream.h"

#include <algorithm>

#include "agent/logs/terminal_text.h"

namespace muster::agent {
namespace {

constexpr std::string_view kCutNote = " [cut: this line goes on]";

}  // namespace

void WorkerStream::Take(std::string_view bytes, Instant now) {
  if (sinks_.file != nullptr) sinks_.file->Write(bytes);
  if (sinks_.recent != nullptr) sinks_.recent->Append(bytes, now);
  if (sinks_.remember == Remember::kLastLines) tail_.Append(bytes);
  if (!sinks_.console && sinks_.filtered_file == nullptr) return;
  std::string lines;
  for (const Line& line : assembler_.Append(bytes)) Show(line, now, &lines);
  if (!lines.empty()) sinks_.console(std::move(lines));
  if (!sinks_.console) return;
  if (IsShown(assembler_.Partial())) {
    partial_since_.reset();
  } else if (!partial_since_) {
    partial_since_ = now;
  }
}

std::optional<Instant> WorkerStream::NextDeadline() const {
  if (!partial_since_) return std::nullopt;
  const Instant due = *partial_since_ + kPartialDelay;
  if (!redraws_ || !redrawn_) return due;
  return std::max(due, *redrawn_ + kRedrawInterval);
}

void WorkerStream::TimePassed(Instant now) {
  const std::optional<Instant> due = NextDeadline();
  if (!due || now < *due) return;
  partial_since_.reset();
  if (redraws_) redrawn_ = now;
  ShowPart(assembler_.Partial(), Ends::kNo);
}

void WorkerStream::End() {
  const std::optional<Line> last = assembler_.Finish();
  std::string lines;
  if (last) Show(*last, Instant(), &lines);
  if (!lines.empty()) sinks_.console(std::move(lines));
  // If Finish returned no line, but the console still shows an unfinished line,
  // such as a progress bar's last state, end that line.
  const bool is_open = !last && (shown_ > 0 || redraws_);
  if (is_open && sinks_.console) {
    sinks_.console_part({.stream = sinks_.stream, .ends = true});
  }
  shown_ = 0;
  redraws_ = false;
  partial_since_.reset();
  sinks_.recent = nullptr;
  sinks_.file = nullptr;
  sinks_.filtered_file = nullptr;
}

// Writes the part of the current line that the console does not show yet.
void WorkerStream::ShowPart(std::string_view text, Ends ends) {
  const bool continues = shown_ > 0 || !redraws_;
  LinePart part{.stream = sinks_.stream, .prefix = sinks_.prefix};
  part.text = WithoutControls(text.substr(std::min(shown_, text.size())),
                              Colours::kKeep);
  part.place =
      continues ? LinePart::Place::kContinues : LinePart::Place::kRedraws;
  part.ends = ends == Ends::kYes;
  shown_ = text.size();
  sinks_.console_part(part);
}

// Handles a complete line:
// - A line that ends with "\r" is a state of a progress bar. It is dropped if
//   the previous state was shown less than kRedrawInterval ago. Else it is
//   written to the console.
// - If the console shows the beginning of the line, or a state that the line
//   replaces, the line is written to the console.
// - Any other line is appended to `lines`. The caller writes these to the
//   console.
//
// Lines that match the filter, but not dropped states, are also written to the
// filtered file.
void WorkerStream::Show(const Line& line, Instant now, std::string* lines) {
  const bool is_state = line.end == LineEnd::kOverwritten;
  const bool is_due =
      !is_state || !redrawn_ || now - *redrawn_ >= kRedrawInterval;
  std::string text = WithoutControls(line.text, Colours::kKeep);
  if (line.end == LineEnd::kCut) text.append(kCutNote);
  if (is_due && sinks_.filtered_file != nullptr &&
      sinks_.filter.Matches(line.text)) {
    sinks_.filtered_file->Write(sinks_.prefix + text + "\n");
  }
  if (is_state && is_due) redrawn_ = now;
  const bool is_whole = !is_state && shown_ == 0 && !redraws_;
  if (sinks_.console && is_whole) {
    lines->append(sinks_.prefix).append(text).push_back('\n');
  } else if (sinks_.console && (!is_state || (is_due && !IsShown(line.text)))) {
    if (!lines->empty()) sinks_.console(std::move(*lines));
    lines->clear();
    std::string shown = line.text;
    if (line.end == LineEnd::kCut) shown.append(kCutNote);
    ShowPart(shown, is_state ? Ends::kNo : Ends::kYes);
  }
  redraws_ = is_state;
  shown_ = 0;
  partial_since_.reset();
}

}  // namespace muster::agent
