#ifndef MUSTER_AGENT_LOGS_LINE_ASSEMBLER_H_
#define MUSTER_AGENT_LOGS_LINE_ASSEMBLER_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::agent {

// What ended a line.
enum class LineEnd {
  kNewline,      // "\n" or "\r\n".
  kOverwritten,  // "\r": a progress bar drew over it.
  kCut,          // It grew beyond the limit; the rest follows as a new line.
  kStreamEnd,    // The stream ended without a newline.
};

struct Line {
  std::string text;  // without its end
  LineEnd end = LineEnd::kNewline;

  bool operator==(const Line&) const = default;
};

inline constexpr size_t kMaxConsoleLineBytes = 64 << 10;

// Makes whole lines of a stream of bytes that comes in any pieces. Pure; holds
// at most `max_bytes` between calls.
class LineAssembler {
 public:
  explicit LineAssembler(size_t max_bytes = kMaxConsoleLineBytes)
      : max_bytes_(max_bytes) {}

  // The lines that `bytes` completed, in order. States of a progress bar that
  // were blank are left out (a bar that clears itself draws spaces).
  std::vector<Line> Append(std::string_view bytes);

  // The line that has begun and not ended: what a terminal would show of it.
  // Without a last character or escape sequence that is not whole.
  std::string_view Partial() const;

  // What is left at the end of the stream, if anything is.
  std::optional<Line> Finish();

 private:
  void Grow(std::string_view bytes, std::vector<Line>* lines);
  void EndOverwritten(std::vector<Line>* lines);

  size_t max_bytes_;
  std::string partial_;
  // The last byte was "\r". Only the next byte tells a line's end ("\r\n")
  // from a progress bar.
  bool after_return_ = false;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LOGS_LINE_ASSEMBLER_H_
