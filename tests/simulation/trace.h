#ifndef MUSTER_TESTS_SIMULATION_TRACE_H_
#define MUSTER_TESTS_SIMULATION_TRACE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "base/time.h"

namespace muster::simulation {

// The log of a simulation, one line per event. Keeps a hash of all lines and
// the text of the last lines.
class Trace {
 public:
  enum class Echo { kNo, kToStdout };
  explicit Trace(Echo echo) : echo_(echo) {}

  void Line(Instant when, const std::string& text);
  uint64_t hash() const { return hash_; }
  // The last `lines` lines, oldest first.
  std::string Tail(size_t lines) const;

 private:
  const Echo echo_;
  uint64_t hash_ = 0xcbf29ce484222325;  // initial value of an FNV-1a hash
  std::deque<std::string> last_;
};

}  // namespace muster::simulation

#endif  // MUSTER_TESTS_SIMULATION_TRACE_H_
