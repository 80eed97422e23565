#ifndef MUSTER_TRAINER_SDK_DDP_POWER_SGD_HOOK_H_
#define MUSTER_TRAINER_SDK_DDP_POWER_SGD_HOOK_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "trainer_sdk/ddp/comm_hook.h"
#include "trainer_sdk/ddp/power_sgd_state.h"

namespace muster {

struct PowerSgdOptions {
  // r: the rank of the approximation.
  int rank = 1;
  // So many steps are reduced exactly first: in the beginning gradients change
  // most.
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
// What it keeps from step to step (Q, each rank's loss, how many steps were
// exact) is the hook's State: a training that goes on from a checkpoint with it
// on as many ranks does exactly what it would have done. On another number of
// ranks each takes over some of the losses, so that what is missing of the
// average still comes, and needs room for those while it reads them. The losses
// are as large as the matrices, for each rank.
class PowerSgdHook : public CommHook {
 public:
  explicit PowerSgdHook(const PowerSgdOptions& options = {});

  absl::Status Reduce(GradientBucket& bucket, ProcessGroup& group) override;
  // Begins anew.
  void OnParameters(const std::vector<Tensor>& parameters,
                    const ProcessGroup& group) override;
  void OnNewBuckets() override { plans_.clear(); }
  std::vector<CheckpointSlice> State() override { return state_.Slices(); }
  absl::StatusOr<std::vector<CheckpointSlice>> StateIn(
      const std::vector<CheckpointTensor>& saved) override {
    return state_.SlicesIn(saved);
  }
  void OnStateLoaded() override { state_.OnLoaded(); }

 private:
  // What is done with one bucket.
  struct Plan {
    struct Place {
      PowerSgdMatrix* matrix = nullptr;
      // In the bucket, in `p` and in `q`, in elements.
      int64_t offset = 0;
      int64_t p = 0;
      int64_t q = 0;
    };
    std::vector<Place> places;
    // Elements that are not in a matrix: (offset, count).
    std::vector<std::pair<int64_t, int64_t>> rest;
    // What is reduced of all matrices, and of the rest, at once.
    std::vector<float> p;
    std::vector<float> q;
    std::vector<float> flat;
  };

  Plan MakePlan(const GradientBucket& bucket);
  // Whether there was one left.
  bool TakeExactStep(const Plan& plan) const;
  absl::Status ReduceRest(Plan& plan, float* data, ProcessGroup& group) const;
  absl::Status ReduceMatrices(Plan& plan, float* data,
                              ProcessGroup& group) const;

  const PowerSgdOptions options_;
  PowerSgdState state_;
  // By bucket, of which there are not many.
  std::map<int, Plan> plans_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DDP_POWER_SGD_HOOK_H_
