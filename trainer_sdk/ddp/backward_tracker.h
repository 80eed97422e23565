#ifndef MUSTER_TRAINER_SDK_DDP_BACKWARD_TRACKER_H_
#define MUSTER_TRAINER_SDK_DDP_BACKWARD_TRACKER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace muster {

// Which parameters each backward pass uses.
enum class ParameterUse {
  // Every pass produces every gradient; a missing gradient is an error.
  kAll,
  // Any pass may leave out any parameter, and ranks may differ (PyTorch's
  // find_unused_parameters). Costs one small extra all_reduce per step.
  kMayVary,
  // On each rank, every pass uses the same parameters, equally often, as its
  // first pass (PyTorch's static_graph). The first pass reduces only at its
  // end.
  kStatic,
};

// Whether a backward pass is the last one before the optimizer's step.
enum class GradientSync {
  kReduce,
  // Further passes add to the same gradients before they are averaged
  // (PyTorch's no_sync).
  kAccumulate,
};

// Tracks a backward pass: which buckets are full, in which order they are
// reduced, and errors of use, which name the parameter. Buckets are reduced
// strictly in index order, whatever the order in which they become full, so
// that all ranks reduce the same bucket at the same time. Pure; not
// thread-safe.
class BackwardTracker {
 public:
  BackwardTracker(std::vector<std::string> names, ParameterUse use);

  // Sets the buckets. Call it between passes. Each parameter must be in exactly
  // one bucket.
  void SetBuckets(const std::vector<std::vector<int>>& buckets);

  // Starts a pass. FailedPrecondition: the last pass was not finished; names
  // the parameters without a gradient. Appends to `full` the buckets that are
  // full from the start, because a static graph does not use their parameters.
  absl::Status Begin(GradientSync sync, std::vector<int>* full);

  // Reports that the gradient of `parameter` is complete. Appends the buckets
  // that are to be reduced now. FailedPrecondition: the gradient was marked
  // before, the first pass of a static graph did not have it, or no pass is
  // running.
  absl::Status MarkReady(int parameter, std::vector<int>* full);

  // Reports that the pass will produce no gradient of `parameter`. Optional
  // hint for kMayVary: without it the parameter's bucket is reduced only at the
  // end of the pass. FailedPrecondition: the use is not kMayVary, or the
  // gradient was marked before.
  absl::Status MarkUnused(int parameter, std::vector<int>* full);

  // Ends the pass. FailedPrecondition: some parameters that every pass must use
  // had no gradient; the message names them.
  absl::Status Finish(std::vector<int>* full);

  // Whether the parameter had a gradient in the current step, which includes
  // all passes since the last reduced pass.
  bool used(int parameter) const { return states_[parameter].used; }
  // Whether the ranks must exchange at the end of this pass which parameters
  // they used.
  bool must_share_use() const;
  // Parameters in the order in which they became ready in the last reduced
  // pass, then the unused parameters.
  std::vector<int> ObservedOrder() const;

 private:
  enum class Phase { kIdle, kRunning };
  struct State {
    int bucket = 0;
    // The number of gradients of the parameter that are still missing in this
    // pass.
    int missing = 0;
    // The number of gradients of the parameter in each pass of a static graph.
    int times = 0;
    bool used = false;
    bool done = false;
  };

  // Whether a pass is running and `parameter` is valid. If not, WhyNotRunning
  // returns the error.
  bool IsRunning(int parameter) const;
  absl::Status WhyNotRunning(int parameter) const;
  bool Learning() const;
  // Marks `parameter` as done, and appends the buckets that may be reduced now
  // to `full`.
  void Done(int parameter, std::vector<int>* full);
  void AppendFull(std::vector<int>* full);
  std::string Missing() const;

  const std::vector<std::string> names_;
  const ParameterUse use_;
  Phase phase_ = Phase::kIdle;
  GradientSync sync_ = GradientSync::kReduce;
  // Whether the first reduced pass of a static graph is over, so that its uses
  // are known.
  bool learned_ = false;
  // Whether the last pass was reduced, so that the next one begins a new step.
  bool reduced_ = false;
  std::vector<State> states_;
  std::vector<int> order_;
  // Indexed by bucket: the number of its parameters, and the number of its
  // parameters that are not done.
  std::vector<int> bucket_sizes_;
  std::vector<int> left_;
  // The number of parameters that are not done, over all buckets.
  int undone_ = 0;
  int next_ = 0;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DDP_BACKWARD_TRACKER_H_
