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
// on its stream. An operation is late if its event has not happened by the
// operation's deadline. NCCL performs the operations of one communicator one
// after another, whatever their streams, so the oldest operation is checked
// first. Thread-safe.
class StreamWatch {
 public:
  // A thread that calls Add or Look must have made the group's CUDA context its
  // current context.
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

  // Starts to watch the work that is now on `stream` as one operation. Returns
  // the number of this operation, counted from 1.
  absl::StatusOr<uint64_t> Add(nccl::CudaStream stream, const Watched& watched);

  // Whether operation `number` is complete.
  bool Done(uint64_t number) const;

  // Checks all pending operations once, and forgets the complete ones.
  // DeadlineExceeded: an operation is late; the message describes it.
  // Unavailable: the device failed; the error has CUDA's message.
  absl::Status Look(Instant now);

  // Returns the operation that this rank reports to its peers: the oldest
  // pending one. If none is pending, returns the last completed one. nullopt:
  // there was no operation yet.
  std::optional<OperationSignature> Current() const;

  // The time since which the oldest operation has been pending; nullopt if no
  // operation is pending.
  std::optional<Instant> OldestSince() const;

 private:
  struct InFlight {
    Watched watched;
    CudaEvent event = nullptr;
  };

  // Returns DeadlineExceeded if a pending operation is late. The caller holds
  // mutex_.
  absl::Status Lateness(Instant now) const;

  const std::shared_ptr<const CudaDriver> cuda_;
  mutable std::mutex mutex_;
  // pending operations, oldest first; guarded by mutex_
  std::deque<InFlight> in_flight_;
  // unused events, kept for reuse; guarded by mutex_
  std::vector<CudaEvent> free_;
  uint64_t done_ = 0;  // number of completed operations; guarded by mutex_
  OperationSignature last_done_;  // last completed operation; guarded by mutex_
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NCCL_STREAM_WATCH_H_
