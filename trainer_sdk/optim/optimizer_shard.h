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

// The optimizer's state for some ranges of the parameters, and the arithmetic
// on them. Does not communicate. Not thread-safe.
class OptimizerShard {
 public:
  // Sets the state to zero and the master weights to the values, and rounds all
  // values to their precision. Ranges must not overlap.
  OptimizerShard(std::shared_ptr<const UpdateRule> rule,
                 std::vector<Tensor> parameters,
                 std::vector<ParameterRange> ranges);

  const std::vector<Tensor>& parameters() const { return parameters_; }
  const std::vector<ParameterRange>& ranges() const { return ranges_; }

  // Updates range `i` by `gradient`, which is that of the range and not of the
  // whole parameter, and writes the values.
  void Update(const OptimizerStep& step, int i, TensorData gradient);

  // Writes the values of range `i` from its master weights, if it has any.
  void WriteValues(int i) const;

  // Copies the values of range `i` to `to`, as elements of their precision.
  void CopyRounded(int i, void* to);

  // Slices of the ranges that are not empty.
  std::vector<CheckpointSlice> State();

  // Memory allocated for state and master weights, in bytes.
  int64_t bytes() const;

 private:
  float* Trained(int i);

  const std::shared_ptr<const UpdateRule> rule_;
  const std::vector<std::string> state_names_;
  const std::vector<Tensor> parameters_;
  const std::vector<ParameterRange> ranges_;
  // By range: offset of its part in each state and in the master weights, in
  // elements.
  std::vector<int64_t> offsets_;
  std::vector<int64_t> master_offsets_;
  // By state: the elements of all ranges, concatenated.
  std::vector<std::vector<float>> states_;
  std::vector<float> masters_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_OPTIM_OPTIMIZER_SHARD_H_
