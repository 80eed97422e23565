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
  // The rank r of the matrix that approximates a gradient matrix.
  int rank = 1;
  // The number of initial steps in which gradients are averaged exactly,
  // because gradients change most at the beginning.
  int exact_steps = 10;
  // A matrix is compressed only if compression reduces its size by more than
  // this factor.
  double least_rate = 2;
  // Seed of the random initial matrix Q; equal on all ranks.
  uint64_t seed = 0;
};

// PowerSGD (Vogels et al., NeurIPS 2019): approximates each gradient matrix M
// of n rows and m columns by P Q^T. It sends P and Q: n r + m r numbers instead
// of n m. Each step does one power iteration from the last step's Q. The
// approximation error is added to the next step's gradient (error feedback).
// Vectors, matrices that are too small, and types other than float32 are
// averaged exactly.
//
// The state kept from step to step (Q, each rank's error, the number of exact
// steps) is the hook's State. A training that resumes from a checkpoint with
// this state on the same number of ranks continues exactly as without the
// interruption. On another number of ranks, the saved errors are divided among
// the ranks, so that none is lost. While a rank reads the checkpoint, it needs
// memory for its share of the saved errors. The saved errors of one rank are as
// large as the matrices.
//
// The arithmetic runs on the host. If gradients are on a device, each bucket is
// copied to the host and back, and Reduce blocks meanwhile. PowerSGD on a
// device pays off only if the network is much slower than the device's bus.
class PowerSgdHook : public CommHook {
 public:
  explicit PowerSgdHook(const PowerSgdOptions& options = {});

  absl::Status Reduce(GradientBucket& bucket, ProcessGroup& group) override;
  bool takes_device_memory() const override { return true; }
  // Discards all state and starts with the given parameters.
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
  // How the gradients of one bucket are reduced: the matrices to compress, with
  // their positions, and the ranges of all other elements.
  struct Plan {
    struct Place {
      PowerSgdMatrix* matrix = nullptr;
      // Positions of three matrices, in elements. `offset`: of the gradient
      // matrix M in the bucket. `p` and `q`: of the factors P and Q in the
      // buffers Plan::p and Plan::q (M is approximated by P Q^T).
      int64_t offset = 0;
      int64_t p = 0;
      int64_t q = 0;
    };
    std::vector<Place> places;
    // Ranges of the bucket that belong to no compressed matrix: (offset, count)
    // in elements.
    std::vector<std::pair<int64_t, int64_t>> rest;
    // Three buffers, each reduced by one operation. `p` and `q`: the factors P
    // and Q of all compressed matrices (M is approximated by P Q^T). `flat`:
    // the elements of the bucket that belong to no compressed matrix.
    std::vector<float> p;
    std::vector<float> q;
    std::vector<float> flat;
  };

  Plan MakePlan(const GradientBucket& bucket);
  // Returns whether the bucket is averaged exactly in this step, without
  // compression. A matrix must take part in PowerSgdOptions::exact_steps exact
  // steps before it is compressed. So the step is exact if any matrix of the
  // bucket still needs exact steps, or if the bucket has no matrix to compress.
  // Counts the step for each matrix that still needs exact steps.
  bool TakeExactStep(const Plan& plan) const;
  // Averages the elements that belong to no compressed matrix (ReduceRest), and
  // the compressed matrices (ReduceMatrices). `data`: the bucket in host
  // memory. `device`: the device of the bucket.
  absl::Status ReduceRest(Plan& plan, float* data, Device& device,
                          ProcessGroup& group) const;
  absl::Status ReduceMatrices(Plan& plan, float* data, Device& device,
                              ProcessGroup& group) const;

  const PowerSgdOptions options_;
  PowerSgdState state_;
  // The plan of each bucket. Key: the bucket's index.
  std::map<int, Plan> plans_;
  // A copy, in host memory, of a bucket that is in the memory of a device.
  std::vector<float> staged_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DDP_POWER_SGD_HOOK_H_
