#ifndef MUSTER_AGENT_HEALTH_WITHIN_H_
#define MUSTER_AGENT_HEALTH_WITHIN_H_

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/monotonic_clock.h"

namespace muster::agent {

// Counts the calls in this process that may never return, so that repeated
// checks do not accumulate threads. Thread-safe.
class StuckCalls {
 public:
  // Returns false if so many calls are stuck that no other may begin.
  static bool Begin();
  static void End();
};

// The result of `work`; nullopt if it does not return by `deadline`. Then it
// continues in a thread of its own, because a call into a hanging driver or
// file system cannot be cancelled: `work` must own all that it uses. If too
// many such threads exist, the result is nullopt at once.
template <typename T>
std::optional<T> Within(Instant deadline, std::function<T()> work) {
  struct Pending {
    std::mutex mutex;
    std::condition_variable done;
    std::optional<T> answer;
  };
  if (!StuckCalls::Begin()) return std::nullopt;
  auto pending = std::make_shared<Pending>();
  std::thread([pending, work = std::move(work)] {
    T answer = work();
    {
      std::lock_guard<std::mutex> lock(pending->mutex);
      pending->answer = std::move(answer);
      pending->done.notify_one();
    }
    StuckCalls::End();
  }).detach();
  std::unique_lock<std::mutex> lock(pending->mutex);
  pending->done.wait_until(lock, ToSteady(deadline),
                           [&] { return pending->answer.has_value(); });
  return std::move(pending->answer);
}

}  // namespace muster::agent

#endif  // MUSTER_AGENT_HEALTH_WITHIN_H_
