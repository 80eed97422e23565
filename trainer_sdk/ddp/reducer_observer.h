#ifndef MUSTER_TRAINER_SDK_DDP_REDUCER_OBSERVER_H_
#define MUSTER_TRAINER_SDK_DDP_REDUCER_OBSERVER_H_

#include <cstdint>

#include "base/time.h"

namespace muster {

// The times of the reduction of one bucket.
struct BucketReduction {
  // Index of the bucket; -1 for the exchange in which the ranks report which
  // parameters they used.
  int bucket = 0;
  int64_t bytes = 0;
  // `asked`: the time at which the backward pass had filled the bucket.
  // `began`: the time at which the reducer's thread began to reduce the bucket.
  // `ended`: the time at which the reduction, copies included, was finished.
  Instant asked;
  Instant began;
  Instant ended;
};

// Points in the asynchronous work of a device. The reducer reports a point
// after it has enqueued the work before the point, and before it enqueues the
// work after the point. The device reaches the point later.
enum class DevicePoint {
  // The point on Device::Stream::kCompute at which all gradients of a bucket
  // are complete.
  kAsked,
  // The points on Device::Stream::kCommunication at which the reduction of a
  // bucket, copies included, begins and ends.
  kBegan,
  kEnded,
  // The two points on Device::Stream::kCompute between which this stream waits
  // for the reductions of all buckets.
  kWaits,
  kWaited,
};

// Receives the times of a reducer's work while it runs. Slow observers delay
// the reducer, which waits for each call.
class ReducerObserver {
 public:
  virtual ~ReducerObserver() = default;

  // Called if gradients are on a device, instead of OnReduced and OnWaited.
  // Runs on the thread that called the reducer. At the time of the call, the
  // work before `point` has been enqueued, and the work after `point` has not.
  // So the observer can enqueue an event at `point`. `bucket` and `bytes`, the
  // bucket's index and size, are valid for kAsked, kBegan and kEnded.
  virtual void OnDevicePoint(DevicePoint point, int bucket, int64_t bytes) {
    (void)point, (void)bucket, (void)bytes;
  }

  // Called on the reducer's thread after the reduction of each bucket. All
  // calls for a pass come before Finish returns.
  virtual void OnReduced(const BucketReduction& reduction) = 0;
  // Called in Finish, with the interval during which Finish waited for
  // reductions. ReducerTimes::exposed is the sum of these intervals.
  virtual void OnWaited(Instant begin, Instant end) = 0;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DDP_REDUCER_OBSERVER_H_
