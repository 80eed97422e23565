#ifndef MUSTER_TRAINER_SDK_DDP_BACKWARD_TRACKER_H_
#define MUSTER_TRAINER_SDK_DDP_BACKWARD_TRACKER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace muster {

// Which parameters' gradients each backward pass produces.
enum class ParameterUse {
  // Every pass produces the gradient of every parameter; a missing gradient is
  // an error.
  kAll,
  // Any pass may leave out the gradient of any parameter, and ranks may differ
  // (PyTorch's find_unused_parameters). Costs one small extra all_reduce per
  // step.
  kMayVary,
  // PyTorch's static_graph: on each rank, the first pass with
  // GradientSync::kReduce decides which gradients every later pass produces,
  // and how many times each. This first reduced pass reduces its gradients only
  // at its end.
  kStatic,
};

// Whether a backward pass is the last one before the optimizer's step.
enum class GradientSync {
  kReduce,
  // The pass is not the last one before the optimizer's step: further passes
  // add to the same gradients before these are averaged (PyTorch's no_sync).
  kAccumulate,
};

// Tracks one backward pass after another: which buckets are full and in which
// order they are reduced. The error of a wrong call names the parameter.
// Buckets are always reduced in index order, even if they become full in
// another order. So all ranks reduce the buckets in the same order. Pure; not
// thread-safe.
class BackwardTracker {
 public:
  BackwardTracker(std::vector<std::string> names, ParameterUse use);

  // Sets the buckets, each a list of parameters. Call it between passes. Each
  // parameter must be in exactly one bucket.
  void SetBuckets(const std::vector<std::vector<int>>& buckets);

  // Starts a pass. Appends to `full` the buckets that are to be reduced
  // immediately. Such buckets occur only with a static graph: none of their
  // parameters gets a gradient. FailedPrecondition: the previous pass was not
  // finished; the message names the parameters without a gradient.
  absl::Status Begin(GradientSync sync, std::vector<int>* full);

  // Reports that the gradient of `parameter` is complete. Appends to `full` the
  // buckets that are to be reduced now. FailedPrecondition: no pass is running,
  // or the pass has too many gradients of the parameter: more than the first
  // reduced pass with a static graph; otherwise more than one, or any after
  // MarkUnused. InvalidArgument: there is no such parameter.
  absl::Status MarkReady(int parameter, std::vector<int>* full);

  // Reports that the pass will produce no gradient of `parameter`. Appends to
  // `full` the buckets that are to be reduced now. The call is optional:
  // without it, the parameter's bucket is reduced only at the end of the pass.
  // FailedPrecondition: ParameterUse is not kMayVary, the gradient was marked
  // before, or no pass is running. InvalidArgument: there is no such parameter.
  absl::Status MarkUnused(int parameter, std::vector<int>* full);

  // Ends the pass: no further gradient will come. Appends to `full` the buckets
  // that are to be reduced now. FailedPrecondition: no pass is running, or the
  // pass lacks the gradients of some parameters that every pass must produce;
  // the message names them.
  absl::Status Finish(std::vector<int>* full);

  // Whether the parameter has had a gradient in the current step. A step is a
  // series of passes: the last one is reduced (GradientSync::kReduce), and all
  // earlier ones only accumulate gradients.
  bool used(int parameter) const { return states_[parameter].used; }
  // Whether, at the end of this pass, the ranks must tell each other which
  // parameters they used.
  bool must_share_use() const;
  // All parameters: first those used in the last reduced pass, in the order in
  // which their gradients became ready; then the unused ones.
  std::vector<int> ObservedOrder() const;

 private:
  enum class Phase { kIdle, kRunning };
  struct State {
    int bucket = 0;
    // How many more gradients of the parameter this pass must produce.
    int missing = 0;
    // How many gradients of the parameter each pass of a static graph produces.
    int times = 0;
    bool used = false;
    bool done = false;
  };

  // Whether a pass is running and `parameter` is the index of a parameter. If
  // not, WhyNotRunning returns the error.
  bool IsRunning(int parameter) const;
  absl::Status WhyNotRunning(int parameter) const;
  bool Learning() const;
  // Records that this pass produces no further gradient of `parameter`. Appends
  // to `full` the buckets that may be reduced now.
  void Done(int parameter, std::vector<int>* full);
  void AppendFull(std::vector<int>* full);
  std::string Missing() const;

  const std::vector<std::string> names_;
  const ParameterUse use_;
  Phase phase_ = Phase::kIdle;
  GradientSync sync_ = GradientSync::kReduce;
  // Whether the first reduced pass of a static graph is over. After this pass
  // the tracker knows which gradients every pass produces.
  bool learned_ = false;
  // Whether the previous pass was reduced, so that the next pass begins a new
  // step.
  bool reduced_ = false;
  std::vector<State> states_;
  std::vector<int> order_;
  // Indexed by bucket: the number of parameters in the bucket, and how many of
  // them still lack a gradient in this pass.
  std::vector<int> bucket_sizes_;
  std::vector<int> left_;
  // The number of parameters, over all buckets, that still lack a gradient in
  // this pass.
  int undone_ = 0;
  int next_ = 0;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DDP_BACKWARD_TRACKER_H_
