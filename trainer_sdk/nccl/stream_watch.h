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

// Tracks one group's operations on the device. Each operation records an event
// on its stream, and is late if the event has not happened by the operation's
// deadline. NCCL performs the operations of one communicator one after another,
// whatever their streams, so the oldest operation is checked first.
// Thread-safe.
class StreamWatch {
 public:
  // The caller of Look and Await must have made the right context of `cuda`
  // current.
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

  // Watches the work that is on `stream` now. Returns the number of this
  // operation, from 1.
  absl::StatusOr<uint64_t> Add(nccl::CudaStream stream, const Watched& watched);

  // Whether the operation of that number is done.
  bool Done(uint64_t number) const;

  // Checks once, and forgets completed operations. DeadlineExceeded: an
  // operation is late; the message describes it. Unavailable: the device
  // failed; the error has CUDA's message.
  absl::Status Look(Instant now);

  // The operation that this rank reports to its peers: the oldest pending one,
  // otherwise the last completed one. nullopt before the first operation.
  std::optional<OperationSignature> Current() const;

  // The time since when the oldest operation has been pending; nullopt if none
  // is pending.
  std::optional<Instant> OldestSince() const;

 private:
  struct InFlight {
    Watched watched;
    CudaEvent event = nullptr;
  };

  // Checks the pending operations for lateness. The caller holds the lock.
  absl::Status Lateness(Instant now) const;

  const std::shared_ptr<const CudaDriver> cuda_;
  mutable std::mutex mutex_;
  std::deque<InFlight> in_flight_;  // guarded by mutex_; oldest first
  std::vector<CudaEvent> free_;     // guarded by mutex_; events for reuse
  uint64_t done_ = 0;               // guarded by mutex_
  OperationSignature last_done_;    // guarded by mutex_
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NCCL_STREAM_WATCH_H_
