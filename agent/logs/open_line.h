#ifndef MUSTER_AGENT_LOGS_OPEN_LINE_H_
#define MUSTER_AGENT_LOGS_OPEN_LINE_H_

#include <cstdint>
#include <string>

namespace muster::agent {

// A part of one stream's line.
struct LinePart {
  enum class Place {
    kContinues,  // After what the console shows of this line so far.
    kRedraws,    // Instead of it: a progress bar's next state.
  };

  uint64_t stream = 0;  // names the stream; not 0
  std::string prefix;   // shown where the part begins a line on the console
  std::string text;     // without an end of line
  Place place = Place::kContinues;
  bool ends = false;  // the line is complete with this part
};

// Several streams share a console: at most one of their lines is unfinished
// there, and another stream's text ends that line first. Decides the bytes that
// the console is given. Pure.
class OpenLine {
 public:
  // kReplace: a terminal, where a line can be drawn again in its place.
  // kNewLine: a file or pipe, where each state of a progress bar gets a line.
  enum class Redraw { kReplace, kNewLine };

  explicit OpenLine(Redraw redraw) : redraw_(redraw) {}

  // What `lines`, whole lines of any stream, must be preceded by.
  std::string BeforeLines();

  // The console was left in the middle of a line that nobody will continue.
  void LeaveOpen() { stream_ = kNobody; }

  // The bytes for `part`; empty: there is nothing left to show of it.
  std::string Compose(const LinePart& part);

 private:
  static constexpr uint64_t kNobody = ~uint64_t{0};

  const Redraw redraw_;
  uint64_t stream_ = 0;  // whose line is unfinished; 0: none is
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LOGS_OPEN_LINE_H_
