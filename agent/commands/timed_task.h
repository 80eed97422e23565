#ifndef MUSTER_AGENT_COMMANDS_TIMED_TASK_H_
#define MUSTER_AGENT_COMMANDS_TIMED_TASK_H_

#include <functional>
#include <memory>
#include <thread>

#include "absl/status/status.h"
#include "base/time.h"

namespace muster::agent {

// Runs a task in a thread of its own, so that the agent's loop does not wait
// for the task. The task may never return, because a call into a hanging driver
// or file system cannot be cancelled. At the deadline the thread of such a task
// is abandoned.
//
// Not thread-safe.
class TimedTask {
 public:
  // The function to run. `cancel_fd` becomes readable when the result is no
  // longer needed. The function may run longer than the TimedTask object
  // exists, and must own what it uses.
  using Task = std::function<absl::Status(int cancel_fd)>;
  // Called once, in a thread of the TimedTask, unless the task is cancelled.
  // `outcome`: the status that the task returned; DeadlineExceeded if the task
  // had not returned at its deadline.
  using Done = std::function<void(const absl::Status& outcome)>;

  TimedTask() = default;
  // Cancels a running task, as Cancel does.
  ~TimedTask();
  TimedTask(const TimedTask&) = delete;
  TimedTask& operator=(const TimedTask&) = delete;

  // Cancels a running task and starts a new one.
  void Start(Task task, Duration timeout, Done done);

  // The state of the task when Cancel was called: already finished, or still
  // running.
  enum class CancelResult { kFinished, kRunning };

  // Cancels a running task. After Cancel has returned, `done` is not called any
  // more. If the result is kRunning, `done` was never called. Must not be
  // called from `done`.
  CancelResult Cancel();

 private:
  struct Work;
  std::shared_ptr<Work> work_;
  std::thread waiter_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_COMMANDS_TIMED_TASK_H_
