#ifndef MUSTER_AGENT_LOGS_TAIL_BUFFER_H_
#define MUSTER_AGENT_LOGS_TAIL_BUFFER_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace muster::agent {

// Keeps the end of a stream for a verdict. Pure. Append is cheap: the bytes are
// split into lines only in Lines.
class TailBuffer {
 public:
  void Append(std::string_view bytes);

  // The last kMaxStderrLines non-blank lines, oldest first, each valid UTF-8 of
  // at most kMaxLineBytes without control characters and escape sequences. Of a
  // progress bar the last state.
  std::vector<std::string> Lines() const;

 private:
  // Enough for the lines even if progress bars draw many states into each.
  static constexpr size_t kKeptBytes = 32 << 10;

  // The newest bytes are at the end. Holds up to twice kKeptBytes, so that
  // appending seldom moves bytes.
  std::string bytes_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LOGS_TAIL_BUFFER_H_
