#ifndef MUSTER_AGENT_HEALTH_WITHIN_H_
#define MUSTER_AGENT_HEALTH_WITHIN_H_

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "base/monotonic_clock.h"

namespace muster::agent {

// Counts and limits the calls in this process that may never return. Without a
// limit, repeated checks would leave more and more threads that hang.
// Thread-safe.
class StuckCalls {
 public:
  // Runs `work` in a thread of its own. All signals are blocked in the thread.
  // Otherwise the kernel could deliver a signal for this process to this
  // thread, which cannot handle the signal while it is stuck. Returns false if
  // too many calls are stuck, or if the system cannot create a thread.
  static bool Start(std::function<void()> work);
};

// The result of `work`; nullopt if `work` does not return by `deadline`. A call
// into a hanging driver or file system cannot be cancelled. After the deadline
// `work` therefore continues in a thread of its own, and must own all that it
// uses. If too many such threads exist, the result is nullopt at once.
template <typename T>
std::optional<T> Within(Instant deadline, std::function<T()> work) {
  struct Pending {
    std::mutex mutex;
    std::condition_variable done;
    std::optional<T> answer;
  };
  auto pending = std::make_shared<Pending>();
  const bool started = StuckCalls::Start([pending, work = std::move(work)] {
    T answer = work();
    std::lock_guard<std::mutex> lock(pending->mutex);
    pending->answer = std::move(answer);
    pending->done.notify_one();
  });
  if (!started) return std::nullopt;
  std::unique_lock<std::mutex> lock(pending->mutex);
  pending->done.wait_until(lock, ToSteady(deadline),
                           [&] { return pending->answer.has_value(); });
  return std::move(pending->answer);
}

}  // namespace muster::agent

#endif  // MUSTER_AGENT_HEALTH_WITHIN_H_
