#ifndef MUSTER_TRAINER_SDK_OPTIM_OPTIMIZER_SHARD_H_
#define MUSTER_TRAINER_SDK_OPTIM_OPTIMIZER_SHARD_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trainer_sdk/checkpoint/checkpoint_slice.h"
#include "trainer_sdk/optim/optimizer.h"
#include "trainer_sdk/optim/update_rule.h"

namespace muster {

// Elements [begin, end) of a flattened parameter.
struct ParameterRange {
  int parameter = 0;
  int64_t begin = 0;
  int64_t end = 0;

  int64_t count() const { return end - begin; }
};

// The state of an optimizer for some ranges of the parameters, and the
// arithmetic on them. Does not communicate; not thread-safe.
class OptimizerShard {
 public:
  // State is zero, master weights are the values, which are rounded, all of
  // them, to their precision. Ranges don't overlap.
  OptimizerShard(std::shared_ptr<const UpdateRule> rule,
                 std::vector<Tensor> parameters,
                 std::vector<ParameterRange> ranges);

  const std::vector<Tensor>& parameters() const { return parameters_; }
  const std::vector<ParameterRange>& ranges() const { return ranges_; }

  // Updates the i-th range with its gradient (of the range, not of the whole
  // parameter), and writes its values.
  void Update(const OptimizerStep& step, int i, TensorData gradient);

  // Writes the i-th range's values from its master weights, if it has any.
  void WriteValues(int i) const;

  // Copies the i-th range's values to `to`, as elements of their precision.
  void CopyRounded(int i, void* to);

  // Of ranges that have elements.
  std::vector<CheckpointSlice> State();

  // What was allocated for state and master weights.
  int64_t bytes() const;

 private:
  float* Trained(int i);

  const std::shared_ptr<const UpdateRule> rule_;
  const std::vector<std::string> state_names_;
  const std::vector<Tensor> parameters_;
  const std::vector<ParameterRange> ranges_;
  // By range: where its part of each state and of the masters begins.
  std::vector<int64_t> offsets_;
  std::vector<int64_t> master_offsets_;
  // By state's name: all ranges, one behind the other.
  std::vector<std::vector<float>> states_;
  std::vector<float> masters_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_OPTIM_OPTIMIZER_SHARD_H_
