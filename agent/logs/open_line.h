#ifndef MUSTER_AGENT_LOGS_OPEN_LINE_H_
#define MUSTER_AGENT_LOGS_OPEN_LINE_H_

#include <cstdint>
#include <string>

namespace muster::agent {

// A piece of a line that a stream writes to the console.
struct LinePart {
  enum class Place {
    kContinues,  // the text follows the text of the line that is already shown
    // The text replaces the text that is shown, as the next state of a progress
    // bar does.
    kRedraws,
  };

  uint64_t stream = 0;  // number of the stream to which the line belongs; not 0
  std::string prefix;   // printed before `text` if this piece begins a line
  std::string text;     // text of this piece of a line, without a line end
  Place place = Place::kContinues;
  bool ends = false;  // whether the line ends with this piece
};

// Composes the output of several streams that share a console. At most one line
// on the console is unfinished. Text of the same stream continues the line, or
// replaces it (see Redraw). Before text of another stream, the line is ended.
// Pure.
class OpenLine {
 public:
  // The handling of a progress bar's new state. kReplace, for a terminal: the
  // new state overwrites the old one. kNewLine, for a file or pipe: each state
  // gets its own line.
  enum class Redraw { kReplace, kNewLine };

  explicit OpenLine(Redraw redraw) : redraw_(redraw) {}

  // Called before lines that do not continue the unfinished line on the
  // console. Returns the bytes that end the unfinished line ("\n"); empty if
  // there is none. Afterwards no line counts as unfinished.
  std::string BeforeLines();

  // Records that the last line on the console is unfinished and will not be
  // continued.
  void LeaveOpen() { stream_ = kNobody; }

  // The bytes to write for `part`; empty: everything is already shown.
  std::string Compose(const LinePart& part);

 private:
  static constexpr uint64_t kNobody = ~uint64_t{0};

  const Redraw redraw_;
  uint64_t stream_ = 0;  // stream of the unfinished line; 0: none
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LOGS_OPEN_LINE_H_
