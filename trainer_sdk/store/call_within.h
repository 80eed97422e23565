#ifndef MUSTER_TRAINER_SDK_STORE_CALL_WITHIN_H_
#define MUSTER_TRAINER_SDK_STORE_CALL_WITHIN_H_

#include <future>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "base/time.h"

namespace muster {

// Runs `call` on a thread of its own and returns its result; nullopt after
// `timeout`, or if the system has no thread left. Used for store calls without
// a deadline, because a store behind a broken network may never answer. The
// thread may outlive CallWithin, so `call` must own all objects that it uses.
template <typename Result, typename Call>
std::optional<Result> CallWithin(Duration timeout, Call call) {
  std::packaged_task<Result()> task(std::move(call));
  std::future<Result> answer = task.get_future();
  try {
    std::thread(std::move(task)).detach();
  } catch (const std::system_error&) {
    return std::nullopt;
  }
  if (answer.wait_for(timeout) != std::future_status::ready) {
    return std::nullopt;
  }
  return answer.get();
}

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_STORE_CALL_WITHIN_H_
