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

// Tracks one group's operations on the device. Each records an event on its
// stream, and is late if that has not happened by its deadline. NCCL performs
// the operations of one communicator one after another, whatever their streams,
// so the oldest is checked first. Thread-safe.
class StreamWatch {
 public:
  // Look and Await must be called with the right context of `cuda` current.
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

  // Watches the work that is on `stream` now. Returns its number, from 1.
  absl::StatusOr<uint64_t> Add(nccl::CudaStream stream, const Watched& watched);

  // Whether the operation of that number is done.
  bool Done(uint64_t number) const;

  // Checks once: forgets completed operations. DeadlineExceeded: a remaining
  // one is late; describes it. Unavailable: the device failed; gives CUDA's
  // message.
  absl::Status Look(Instant now);

  // This rank's account for its peers: the oldest pending operation, else the
  // last completed one. Nothing before the first.
  std::optional<OperationSignature> Current() const;

  // Since when the oldest operation has been pending; nothing if none is.
  std::optional<Instant> OldestSince() const;

 private:
  struct InFlight {
    Watched watched;
    CudaEvent event = nullptr;
  };

  // Checks the pending operations; the lock must be held.
  absl::Status Lateness(Instant now) const;

  const std::shared_ptr<const CudaDriver> cuda_;
  mutable std::mutex mutex_;
  std::deque<InFlight> in_flight_;  // guarded by mutex_; oldest first
  std::vector<CudaEvent> free_;     // guarded by mutex_; for reuse
  uint64_t done_ = 0;               // guarded by mutex_
  OperationSignature last_done_;    // guarded by mutex_
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NCCL_STREAM_WATCH_H_
