#ifndef MUSTER_TRAINER_SDK_DDP_REDUCER_OBSERVER_H_
#define MUSTER_TRAINER_SDK_DDP_REDUCER_OBSERVER_H_

#include <cstdint>

#include "base/time.h"

namespace muster {

// The times of the reduction of one bucket.
struct BucketReduction {
  // Index of the bucket; -1 for the exchange of which parameters were used.
  int bucket = 0;
  int64_t bytes = 0;
  // The times at which the backward pass had filled the bucket (asked), the
  // reducer's thread began to reduce it (began), and the reduction, copies
  // included, was finished (ended).
  Instant asked;
  Instant began;
  Instant ended;
};

// Points in the asynchronous work of a device; their times become known later.
enum class DevicePoint {
  // On Device::Stream::kCompute: the bucket's gradients are complete.
  kAsked,
  // On Device::Stream::kCommunication: begin and end of the reduction, copies
  // included.
  kBegan,
  kEnded,
  // On Device::Stream::kCompute: begin and end of the wait for all reductions.
  kWaits,
  kWaited,
};

// Receives the times of a reducer's work while it runs. Time spent in these
// methods delays the reducer.
class ReducerObserver {
 public:
  virtual ~ReducerObserver() = default;

  // Called for gradients on a device, instead of OnReduced and OnWaited, on the
  // caller's thread. The work before the point is enqueued and the work after
  // the point is not, so the observer can enqueue an event between them.
  // `bucket` and `bytes`, the bucket's index and size, are valid for kAsked,
  // kBegan and kEnded.
  virtual void OnDevicePoint(DevicePoint point, int bucket, int64_t bytes) {
    (void)point, (void)bucket, (void)bytes;
  }

  // Called on the reducer's thread, in the order of reductions, before Finish
  // returns.
  virtual void OnReduced(const BucketReduction& reduction) = 0;
  // Called in Finish, with the interval in which it waited for reductions:
  // ReducerTimes::exposed is the sum of these intervals.
  virtual void OnWaited(Instant begin, Instant end) = 0;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DDP_REDUCER_OBSERVER_H_
