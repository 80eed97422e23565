#ifndef MUSTER_TRAINER_SDK_DDP_REDUCTION_THREAD_H_
#define MUSTER_TRAINER_SDK_DDP_REDUCTION_THREAD_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "absl/status/status.h"
#include "base/time.h"

namespace muster {

// Runs jobs one after another, concurrently with the backward pass. Without
// Start, Add runs its job at once, on the caller's thread. After the first job
// that fails, all further jobs are dropped. Thread-safe.
class ReductionThread {
 public:
  ReductionThread() = default;
  // Waits for the running job; pending ones are dropped.
  ~ReductionThread();
  ReductionThread(const ReductionThread&) = delete;
  ReductionThread& operator=(const ReductionThread&) = delete;

  // Call it before anything else, at most once. ResourceExhausted: the system
  // has no thread.
  absl::Status Start();

  void Add(std::function<absl::Status()> job);

  // Blocks until all added jobs are done or dropped, and returns the first
  // failure.
  absl::Status Drain();

  // Total time spent in jobs.
  Duration busy() const;

 private:
  void Serve();

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<absl::Status()>> jobs_;
  absl::Status failure_;
  Duration busy_{};
  enum class State { kIdle, kWorking, kEnding } state_ = State::kIdle;
  std::thread thread_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DDP_REDUCTION_THREAD_H_
