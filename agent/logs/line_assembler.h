#ifndef MUSTER_AGENT_LOGS_LINE_ASSEMBLER_H_
#define MUSTER_AGENT_LOGS_LINE_ASSEMBLER_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::agent {

// The character or event that ended a line.
enum class LineEnd {
  kNewline,      // "\n" or "\r\n"
  kOverwritten,  // "\r": a progress bar will draw over the line
  kCut,          // the length limit; the rest follows as a new line
  kStreamEnd,    // the end of the stream, without a newline
};

struct Line {
  std::string text;  // without the line's end
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

  // The lines that `bytes` completes, in order. Blank states of a progress bar
  // are omitted (a bar that clears itself draws spaces).
  std::vector<Line> Append(std::string_view bytes);

  // The unfinished line as a terminal would show it, without an incomplete
  // character or escape sequence at its end.
  std::string_view Partial() const;

  // The unfinished line at the end of the stream, if there is one.
  std::optional<Line> Finish();

 private:
  void Grow(std::string_view bytes, std::vector<Line>* lines);
  void EndOverwritten(std::vector<Line>* lines);

  size_t max_bytes_;
  std::string partial_;
  // The last byte was "\r". Only the next byte distinguishes a line's end
  // ("\r\n") from a progress bar.
  bool after_return_ = false;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LOGS_LINE_ASSEMBLER_H_
