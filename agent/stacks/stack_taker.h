#ifndef MUSTER_AGENT_STACKS_STACK_TAKER_H_
#define MUSTER_AGENT_STACKS_STACK_TAKER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent/stacks/stack_lines.h"
#include "base/time.h"

namespace muster::agent {

// Whether a process may be stopped for a moment, so that gdb reads its native
// frames.
enum class NativeFrames { kOmit, kRead };

// Reads the stacks of process `pid`: Python frames by py-spy, native frames by
// gdb, and the description from /proc. Blocks until the stacks are read, but no
// longer than until `deadline`, or until `cancel` becomes readable. Exception:
// a read of /proc may block longer. Any thread.
StackTexts ReadStacks(int64_t pid, NativeFrames native, Instant deadline,
                      int cancel);

// Reads the stacks of processes in a thread of its own: Python frames by py-spy
// (see py_spy.h), native frames by gdb if it is in PATH and may trace the
// process, and always the description from /proc. No code is executed in the
// processes; gdb stops a process while gdb reads its frames.
//
// Limits: six seconds for the first process, ten seconds for all processes
// together, one MiB of text per process. A read of /proc itself may block if
// the process is in an uninterruptible system call and holds the lock of its
// own memory map. The thread that is blocked in the read is then abandoned. The
// tools are child processes of the agent, and may be killed at any time, for
// example after the death of the guardian (the workers' parent process).
//
// Not thread-safe.
class StackTaker {
 public:
  static constexpr Duration kTimeForFirst = std::chrono::seconds(6);
  static constexpr Duration kTimeForAll = std::chrono::seconds(10);

  struct Subject {
    int64_t pid = 0;
    // folder in which stack.txt with all stacks is written; empty: no file
    std::string folder;
  };
  // A callback that receives the most informative lines (MostInformativeLines)
  // of the stacks of the first process in Take's `subjects`. It is called in
  // the StackTaker's thread.
  using Done = std::function<void(std::vector<std::string> lines)>;

  StackTaker();
  // Cancels a running Take; `done` is not called afterwards.
  ~StackTaker();
  StackTaker(const StackTaker&) = delete;
  StackTaker& operator=(const StackTaker&) = delete;

  // Cancels a running Take and starts a new one. `subjects` is not empty.
  void Take(std::vector<Subject> subjects, Done done);

 private:
  void Cancel();

  struct Work;
  // the state of the newest call of Take, shared with the thread that reads
  std::shared_ptr<Work> work_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_STACKS_STACK_TAKER_H_
