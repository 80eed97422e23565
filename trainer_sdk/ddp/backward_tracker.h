#ifndef MUSTER_TRAINER_SDK_DDP_BACKWARD_TRACKER_H_
#define MUSTER_TRAINER_SDK_DDP_BACKWARD_TRACKER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace muster {

// What is known of which parameters a backward pass uses.
enum class ParameterUse {
  // Every pass gives every gradient. One that is missing is an error.
  kAll,
  // Any pass may leave any out, and other ranks others (PyTorch's
  // find_unused_parameters). Costs one small all_reduce more each time.
  kMayVary,
  // Every pass is as the first one, in what it leaves out and how often it
  // adds to a gradient (PyTorch's static_graph), per rank. The first pass
  // reduces only at its end.
  kStatic,
};

// Whether a backward pass is the last one before the optimizer's step.
enum class GradientSync {
  kReduce,
  // More passes add to the same gradients before they are averaged (PyTorch's
  // no_sync).
  kAccumulate,
};

// Follows backward passes: which buckets are full, in which order they are to
// be reduced, and what went wrong, by parameters' names. Buckets are reduced
// strictly in their order, whatever order they fill up in, so that all ranks
// reduce the same one. Pure; not thread-safe.
class BackwardTracker {
 public:
  BackwardTracker(std::vector<std::string> names, ParameterUse use);

  // Between passes. Each parameter is in one bucket.
  void SetBuckets(const std::vector<std::vector<int>>& buckets);

  // Starts a pass. FailedPrecondition: the last one was not finished; which
  // parameters had no gradient. Buckets that are full already, because a
  // static graph leaves them out, are appended to `full`.
  absl::Status Begin(GradientSync sync, std::vector<int>* full);

  // The gradient of `parameter` is there. Appends the buckets that are to be
  // reduced now. FailedPrecondition: it had been marked before; a static graph
  // had no gradient of it in its first pass; no pass is under way.
  absl::Status MarkReady(int parameter, std::vector<int>* full);

  // The pass will give no gradient of `parameter`: not known is not wrong, but
  // later, as its bucket waits until the end.
  absl::Status MarkUnused(int parameter, std::vector<int>* full);

  // The pass is over. FailedPrecondition, where every parameter is used: which
  // had no gradient.
  absl::Status Finish(std::vector<int>* full);

  // Whether a gradient has come in this step: in the passes from behind the
  // last reduced one to the next.
  bool used(int parameter) const { return states_[parameter].used; }
  // Whether the ranks have to tell each other at the end of this pass which
  // parameters they used.
  bool must_share_use() const;
  // Parameters in the order in which the last reduced pass had them ready;
  // those that it left out are at the end.
  std::vector<int> ObservedOrder() const;

 private:
  enum class Phase { kIdle, kRunning };
  struct State {
    int bucket = 0;
    // Gradients that are still to come in this pass.
    int missing = 0;
    // In each pass of a static graph.
    int times = 0;
    bool used = false;
    bool done = false;
  };

  // Whether `parameter` may be marked; why not.
  bool IsRunning(int parameter) const;
  absl::Status WhyNotRunning(int parameter) const;
  bool Learning() const;
  // Counts `parameter` as done, and appends what may go then.
  void Done(int parameter, std::vector<int>* full);
  void AppendFull(std::vector<int>* full);
  std::string Missing() const;

  const std::vector<std::string> names_;
  const ParameterUse use_;
  Phase phase_ = Phase::kIdle;
  GradientSync sync_ = GradientSync::kReduce;
  // Of a static graph: the first reduced pass is over.
  bool learned_ = false;
  // The last pass was reduced, so the next is the first of another step.
  bool reduced_ = false;
  std::vector<State> states_;
  std::vector<int> order_;
  // By bucket: parameters that are not done.
  std::vector<int> bucket_sizes_;
  std::vector<int> left_;
  // Parameters that are not done.
  int undone_ = 0;
  int next_ = 0;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DDP_BACKWARD_TRACKER_H_
