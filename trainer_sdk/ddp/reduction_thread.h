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

// Does one job after another beside the backward pass. The first that fails is
// the last that is done: what comes behind it is dropped. Thread-safe.
class ReductionThread {
 public:
  ReductionThread() = default;
  // Ends after the job under way; those that wait are dropped.
  ~ReductionThread();
  ReductionThread(const ReductionThread&) = delete;
  ReductionThread& operator=(const ReductionThread&) = delete;

  // Once, before anything else. ResourceExhausted: the system has no thread.
  absl::Status Start();

  void Add(std::function<absl::Status()> job);

  // Waits until everything added is done or dropped; the first failure.
  absl::Status Drain();

  // Time spent in jobs.
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
