#ifndef MUSTER_AGENT_STACKS_STACK_TAKER_H_
#define MUSTER_AGENT_STACKS_STACK_TAKER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/time.h"

namespace muster::agent {

// Looks at where processes are, in a thread of its own: Python's frames by
// py-spy (see py_spy.h), native frames by gdb where it is in PATH and may trace
// the process, and always what /proc tells. Nothing is executed in the
// processes; gdb stops each of them for as long as it looks.
//
// Bounded: ten seconds for all, six for the first, a mebibyte each; and where
// /proc itself does not answer (a process that holds its memory's lock in an
// uninterruptible call), the thread is left behind rather than waited for.
// Tools are children of this process that may be killed at any time (see
// Guardian).
//
// Not thread-safe.
class StackTaker {
 public:
  static constexpr Duration kTimeForFirst = std::chrono::seconds(6);
  static constexpr Duration kTimeForAll = std::chrono::seconds(10);

  struct Subject {
    int64_t pid = 0;
    std::string folder;  // gets a stack.txt with everything; empty: none does
  };
  // The most telling lines of the first subject (TellingLines). From the
  // taker's thread.
  using Done = std::function<void(std::vector<std::string> lines)>;

  StackTaker();
  // Ends what is under way; `done` is not called after that.
  ~StackTaker();
  StackTaker(const StackTaker&) = delete;
  StackTaker& operator=(const StackTaker&) = delete;

  // Ends what was under way, as above. `subjects` is not empty.
  void Take(std::vector<Subject> subjects, Done done);

 private:
  void Cancel();

  struct Work;
  std::shared_ptr<Work> work_;  // of the newest Take
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_STACKS_STACK_TAKER_H_
