#ifndef MUSTER_TRAINER_SDK_DDP_POWER_SGD_HOOK_H_
#define MUSTER_TRAINER_SDK_DDP_POWER_SGD_HOOK_H_

#include <cstdint>
#include <map>
#include <vector>

#include "trainer_sdk/ddp/comm_hook.h"

namespace muster {

struct PowerSgdOptions {
  // r: the rank of the approximation.
  int rank = 1;
  // So many steps are reduced exactly first: in the beginning gradients change
  // most, and DDP still rebuilds its buckets.
  int exact_steps = 10;
  // A matrix is compressed if that makes it smaller by at least this factor.
  double least_rate = 2;
  // Of the first Q; the same on every rank.
  uint64_t seed = 0;
};

// PowerSGD (Vogels et al., NeurIPS 2019): each gradient matrix M of n rows and
// m columns is sent as P Q^T, with n r + m r numbers in place of n m. One power
// iteration a step, from the last step's Q; what was lost is added to the next
// step's gradient. Vectors, matrices that are too small, and types other than
// float32 are averaged exactly.
//
// What it keeps from step to step (Q, what was lost) is in no checkpoint: a
// training that goes on from one begins with exact steps again.
class PowerSgdHook : public CommHook {
 public:
  explicit PowerSgdHook(const PowerSgdOptions& options = {});

  absl::Status Reduce(GradientBucket& bucket, ProcessGroup& group) override;
  void OnNewBuckets() override { states_.clear(); }

 private:
  struct Matrix {
    // Place in the bucket, in elements.
    int64_t offset = 0;
    int64_t rows = 0;
    int64_t columns = 0;
    // Place in P and Q of the bucket, in elements.
    int64_t p = 0;
    int64_t q = 0;
    // Place in `error`.
    int64_t e = 0;
  };
  struct State {
    std::vector<Matrix> matrices;
    // Elements that are not in a matrix: (offset, count).
    std::vector<std::pair<int64_t, int64_t>> rest;
    std::vector<float> p;
    std::vector<float> q;
    std::vector<float> error;
    std::vector<float> flat;
    int64_t steps = 0;
  };

  State MakeState(const GradientBucket& bucket) const;
  absl::Status ReduceRest(const State& state, float* data, ProcessGroup& group,
                          std::vector<float>* flat) const;

  const PowerSgdOptions options_;
  // By bucket, of which there are not many.
  std::map<int, State> states_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DDP_POWER_SGD_HOOK_H_
