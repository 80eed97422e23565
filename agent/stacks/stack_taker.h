#ifndef MUSTER_AGENT_STACKS_STACK_TAKER_H_
#define MUSTER_AGENT_STACKS_STACK_TAKER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/owned_fd.h"
#include "base/time.h"

namespace muster {

// Looks at where processes are, in a thread of its own: with py-spy and gdb
// where they are in PATH and may trace the process, and always with what /proc
// tells. Without py-spy, gdb makes a Python process print its own stacks, which
// works whatever holds the interpreter's lock.
//
// Bounded: ten seconds for all, six for the first, a mebibyte each. Tools are
// children of this process that may be killed at any time (see Guardian).
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
  ~StackTaker();  // ends what is under way
  StackTaker(const StackTaker&) = delete;
  StackTaker& operator=(const StackTaker&) = delete;

  // Ends what was under way, whose `done` may not be called. `subjects` is not
  // empty.
  void Take(std::vector<Subject> subjects, Done done);

 private:
  void Cancel();

  OwnedFd cancel_;  // eventfd, readable once the thread shall end
  std::thread thread_;
};

}  // namespace muster

#endif  // MUSTER_AGENT_STACKS_STACK_TAKER_H_
