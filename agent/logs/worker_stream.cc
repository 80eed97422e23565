#include "agent/logs/worker_stream.h"

#include "agent/logs/terminal_text.h"

namespace muster {
namespace {

constexpr std::chrono::seconds kProgressInterval(1);
constexpr std::string_view kCutNote = " [cut: this line goes on]";

}  // namespace

void WorkerStream::Take(std::string_view bytes, Instant now) {
  if (sinks_.file != nullptr) sinks_.file->Write(bytes);
  if (sinks_.remember == Remember::kLastLines) tail_.Append(bytes);
  if (!sinks_.console && sinks_.filtered_file == nullptr) return;
  for (const Line& line : assembler_.Append(bytes)) Show(line, now);
}

void WorkerStream::End() {
  std::optional<Line> last = assembler_.Finish();
  if (last) Show(*last, Instant());
  sinks_.file = nullptr;
  sinks_.filtered_file = nullptr;
}

void WorkerStream::Show(const Line& line, Instant now) {
  if (line.end == LineEnd::kOverwritten) {
    if (progress_shown_ && now - *progress_shown_ < kProgressInterval) return;
    progress_shown_ = now;
  }
  std::string text = sinks_.prefix;
  text.append(WithoutControls(line.text, Colours::kKeep));
  if (line.end == LineEnd::kCut) text.append(kCutNote);
  text.push_back('\n');
  if (sinks_.filtered_file != nullptr && sinks_.filter.Matches(line.text)) {
    sinks_.filtered_file->Write(text);
  }
  if (sinks_.console) sinks_.console(std::move(text));
}

}  // namespace muster
