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
  // When the backward pass had filled the bucket, when the reducer's thread
  // started with it, and when it was finished, copies included.
  Instant asked;
  Instant began;
  Instant ended;
};

// Points in the work of a device, whose times are known only later.
enum class DevicePoint {
  // The bucket's gradients are complete: on Device::Stream::kCompute.
  kAsked,
  // Begin and end of the reduction, copies included: on kCommunication.
  kBegan,
  kEnded,
  // Begin and end of the wait for all reductions: on kCompute.
  kWaits,
  kWaited,
};

// Receives what a reducer does, while it does it. Time spent in these methods
// delays the reducer.
class ReducerObserver {
 public:
  virtual ~ReducerObserver() = default;

  // For gradients on a device, instead of the two methods below: called when
  // the work before the point is enqueued and the work after it is not, so that
  // the observer can enqueue an event there. On the caller's thread, with the
  // bucket's index and size for the first three points.
  virtual void OnDevicePoint(DevicePoint point, int bucket, int64_t bytes) {
    (void)point, (void)bucket, (void)bytes;
  }

  // Called on the reducer's thread, in the order of reductions, before Finish
  // returns.
  virtual void OnReduced(const BucketReduction& reduction) = 0;
  // Called in Finish, with the interval in which it waited for reductions: one
  // summand of ReducerTimes::exposed.
  virtual void OnWaited(Instant begin, Instant end) = 0;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DDP_REDUCER_OBSERVER_H_
