#ifndef MUSTER_TRAINER_SDK_DDP_REDUCER_OBSERVER_H_
#define MUSTER_TRAINER_SDK_DDP_REDUCER_OBSERVER_H_

#include <cstdint>

#include "base/time.h"

namespace muster {

// When a bucket of gradients was averaged.
struct BucketReduction {
  // Its index; -1 for the map of parameters that were used.
  int bucket = 0;
  int64_t bytes = 0;
  // The backward pass had filled it; the reducer's thread came to it; it was
  // done, copies included.
  Instant asked;
  Instant began;
  Instant ended;
};

// Is told what a reducer does as it does it. What it takes for that is the
// reducer's time.
class ReducerObserver {
 public:
  virtual ~ReducerObserver() = default;

  // On the reducer's thread, in the order of reductions, before Finish returns.
  virtual void OnReduced(const BucketReduction& reduction) = 0;
  // In Finish: gradients were waited for, ReducerTimes::exposed's part.
  virtual void OnWaited(Instant begin, Instant end) = 0;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DDP_REDUCER_OBSERVER_H_
