#ifndef MUSTER_AGENT_COMMANDS_TIMED_TASK_H_
#define MUSTER_AGENT_COMMANDS_TIMED_TASK_H_

#include <functional>
#include <memory>
#include <thread>

#include "absl/status/status.h"
#include "base/time.h"

namespace muster::agent {

// Something that takes time beside an agent's loop, and may take for ever: a
// call into a driver or a file system that has died cannot be ended. Such a one
// is left behind in its thread, and its time is over all the same.
//
// Not thread-safe.
class TimedTask {
 public:
  // `cancel_fd` becomes readable when nobody waits for it any more. It may
  // outlive the TimedTask, and must hold what it uses.
  using Task = std::function<absl::Status(int cancel_fd)>;
  // What the task returned, or DeadlineExceeded. From a thread of this.
  using Done = std::function<void(const absl::Status& outcome)>;

  TimedTask() = default;
  // As Cancel.
  ~TimedTask();
  TimedTask(const TimedTask&) = delete;
  TimedTask& operator=(const TimedTask&) = delete;

  // Cancels what is under way.
  void Start(Task task, Duration timeout, Done done);

  // What was there to be cancelled.
  enum class Was { kOver, kUnderWay };

  // `done` is not called any more once this has returned; if something was
  // under way, it has not been and will not be. Must not be called from it.
  Was Cancel();

 private:
  struct Work;
  std::shared_ptr<Work> work_;
  std::thread waiter_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_COMMANDS_TIMED_TASK_H_
