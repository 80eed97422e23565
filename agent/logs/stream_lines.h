#ifndef MUSTER_AGENT_LOGS_STREAM_LINES_H_
#define MUSTER_AGENT_LOGS_STREAM_LINES_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster::agent {

// The character or event that ended a line.
enum class LineEnd {
  kNewline,      // "\n" or "\r\n"
  kOverwritten,  // "\r": a progress bar will draw over the line
  kCut,  // the line reached the length limit; its rest follows as a new line
  kStreamEnd,  // the stream ended without a newline
};

struct Line {
  std::string text;  // the line without the characters that ended it
  LineEnd end = LineEnd::kNewline;

  bool operator==(const Line&) const = default;
};

inline constexpr size_t kMaxConsoleLineBytes = 64 << 10;

// Splits a stream of bytes, received in pieces of any size, into lines. Pure;
// buffers at most `max_bytes` between calls.
class LineAssembler {
 public:
  explicit LineAssembler(size_t max_bytes = kMaxConsoleLineBytes)
      : max_bytes_(max_bytes) {}

  // Appends bytes and returns the lines that they complete, in order. Blank
  // states of a progress bar are omitted (a bar that clears itself draws
  // spaces).
  std::vector<Line> Append(std::string_view bytes);

  // The number of bytes of the unfinished line.
  size_t pending_bytes() const { return partial_.size(); }

  // The unfinished line as a terminal would show it, without an incomplete
  // character or escape sequence at the end.
  std::string_view Partial() const;

  // Ends the stream, and returns its unfinished line if there is one.
  std::optional<Line> Finish();

 private:
  void Grow(std::string_view bytes, std::vector<Line>* lines);
  void EndOverwritten(std::vector<Line>* lines);

  size_t max_bytes_;
  std::string partial_;
  // Whether the last byte was "\r". Only the next byte shows whether "\r\n"
  // ended the line or a progress bar will draw over it.
  bool after_return_ = false;
};

// A filter for --duplicate-stdout-filters or --duplicate-stderr-filters:
// selects the lines that contain at least one of the given texts,
// case-sensitive, as in torchrun. Pure.
class StreamFilter {
 public:
  // Empty texts are removed, because an empty text would select every line.
  explicit StreamFilter(std::vector<std::string> texts)
      : texts_(std::move(texts)) {
    std::erase_if(texts_, [](const std::string& text) { return text.empty(); });
  }

  // Whether the filter has no texts and therefore selects no line.
  bool empty() const { return texts_.empty(); }

  bool Matches(std::string_view line) const {
    for (const std::string& text : texts_) {
      if (line.find(text) != std::string_view::npos) return true;
    }
    return false;
  }

 private:
  std::vector<std::string> texts_;
};

// Keeps the end of a stream, for the verdict on a failed worker. Pure. Append
// is cheap: only Lines splits the bytes into lines.
class TailBuffer {
 public:
  void Append(std::string_view bytes);

  // The last kMaxStderrLines non-blank lines, oldest first, each valid UTF-8 of
  // at most kMaxLineBytes without control characters and escape sequences. A
  // progress bar gives one line with its last state.
  std::vector<std::string> Lines() const;

 private:
  // The number of bytes kept: enough for kMaxStderrLines lines even if progress
  // bars draw many states into each line.
  static constexpr size_t kKeptBytes = 32 << 10;

  // The kept bytes, the newest at the end. Holds up to twice kKeptBytes, so
  // that appending seldom moves bytes.
  std::string bytes_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LOGS_STREAM_LINES_H_
