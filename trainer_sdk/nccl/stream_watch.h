#ifndef MUSTER_TRAINER_SDK_NCCL_STREAM_WATCH_H_
#define MUSTER_TRAINER_SDK_NCCL_STREAM_WATCH_H_

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "base/time.h"
#include "trainer_sdk/nccl/cuda_driver.h"
#include "trainer_sdk/process_group/signature.h"

namespace muster {

// What one group's operations on the device are doing: each leaves an event on
// its stream, and is late when that has not happened by its deadline. NCCL does
// the operations of one communicator one after another whatever streams they
// are on, so the oldest is looked at first. Thread-safe.
class StreamWatch {
 public:
  // The thread that calls Look or Await has `cuda`'s right context.
  explicit StreamWatch(std::shared_ptr<const CudaDriver> cuda)
      : cuda_(std::move(cuda)) {}
  ~StreamWatch();
  StreamWatch(const StreamWatch&) = delete;
  StreamWatch& operator=(const StreamWatch&) = delete;

  struct Watched {
    OperationSignature signature;
    Instant since;
    Instant deadline;
  };

  // Watches what is on `stream` by now. Which number it has, from 1.
  absl::StatusOr<uint64_t> Add(CudaStream stream, const Watched& watched);

  // Whether the operation of that number has been done.
  bool Done(uint64_t number) const;

  // One look: forgets what has been done. DeadlineExceeded: one that is left is
  // late, described. Unavailable: the device failed, in CUDA's words.
  absl::Status Look(Instant now);

  // What its peers must know of this rank: the oldest operation that is under
  // way, else the last one done. Nothing before the first.
  std::optional<OperationSignature> Current() const;

  // Since when the oldest has been under way; nothing where nothing is.
  std::optional<Instant> OldestSince() const;

 private:
  struct InFlight {
    Watched watched;
    CudaEvent event = nullptr;
  };

  // Of those under way; the lock is held.
  absl::Status Lateness(Instant now) const;

  const std::shared_ptr<const CudaDriver> cuda_;
  mutable std::mutex mutex_;
  std::deque<InFlight> in_flight_;  // guarded by mutex_; oldest first
  std::vector<CudaEvent> free_;     // guarded by mutex_; to be used again
  uint64_t done_ = 0;               // guarded by mutex_
  OperationSignature last_done_;    // guarded by mutex_
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NCCL_STREAM_WATCH_H_
