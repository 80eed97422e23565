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

// Receives what a reducer does, while it does it. Time spent in these methods
// delays the reducer.
class ReducerObserver {
 public:
  virtual ~ReducerObserver() = default;

  // Called on the reducer's thread, in the order of reductions, before Finish
  // returns.
  virtual void OnReduced(const BucketReduction& reduction) = 0;
  // Called in Finish, with the interval in which it waited for reductions: one
  // summand of ReducerTimes::exposed.
  virtual void OnWaited(Instant begin, Instant end) = 0;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DDP_REDUCER_OBSERVER_H_
