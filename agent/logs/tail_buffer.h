#ifndef MUSTER_AGENT_LOGS_TAIL_BUFFER_H_
#define MUSTER_AGENT_LOGS_TAIL_BUFFER_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace muster::agent {

// Remembers the end of a stream, for a verdict. Pure. Cheap to append to: the
// bytes are looked at only when somebody asks.
class TailBuffer {
 public:
  void Append(std::string_view bytes);

  // The last kMaxStderrLines lines that are not blank, oldest first, each
  // valid UTF-8 of at most kMaxLineBytes without control characters and
  // escape sequences; of a progress bar what it showed last.
  std::vector<std::string> Lines() const;

 private:
  // Enough for the lines even if progress bars draw many states into each.
  static constexpr size_t kKeptBytes = 32 << 10;

  // The newest bytes are at the end; between kKeptBytes and twice that many
  // are held once so many have come, so that appending seldom moves them.
  std::string bytes_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LOGS_TAIL_BUFFER_H_
