#ifndef MUSTER_TRAINER_SDK_OPTIM_OPTIMIZER_SHARD_H_
#define MUSTER_TRAINER_SDK_OPTIM_OPTIMIZER_SHARD_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer_sdk/checkpoint/checkpoint_slice.h"
#include "trainer_sdk/device/device.h"
#include "trainer_sdk/optim/optimizer.h"
#include "trainer_sdk/optim/square_sum.h"
#include "trainer_sdk/optim/update_rule.h"

namespace muster {

// Elements [begin, end) of a parameter, viewed as a one-dimensional array.
struct ParameterRange {
  int parameter = 0;
  int64_t begin = 0;
  int64_t end = 0;

  int64_t count() const { return end - begin; }
};

// The part of an optimizer that holds the state of some ranges of the
// parameters, on one device, and updates these ranges. Does not communicate.
// Not thread-safe.
class OptimizerShard {
 public:
  // Sets the state to zero, copies the parameters' values to the master
  // weights, and rounds each parameter's values to its precision. Ranges must
  // not overlap. The values and the gradients must be in the memory of
  // `device`, which must outlive the shard.
  OptimizerShard(std::shared_ptr<const UpdateRule> rule,
                 std::vector<Tensor> parameters,
                 std::vector<ParameterRange> ranges, Device& device);

  // Blocks until the device has completed all its work, because the work of
  // this object uses memory that belongs to the object.
  ~OptimizerShard() { device_.Wait(); }
  OptimizerShard(const OptimizerShard&) = delete;
  OptimizerShard& operator=(const OptimizerShard&) = delete;

  // OK, or the reason why this object cannot be used. ResourceExhausted: not
  // enough device memory. InvalidArgument: the device does not support the
  // optimizer's update rule.
  const absl::Status& status() const { return status_; }

  const std::vector<Tensor>& parameters() const { return parameters_; }
  const std::vector<ParameterRange>& ranges() const { return ranges_; }
  Device& device() const { return device_; }

  // Returns the sum of the squares of all elements of `views`. Blocks.
  absl::StatusOr<SquareSum::Words> SquaresOf(
      const std::vector<TensorData>& views);

  // Updates the weights of range `i`, and stores them in the parameter's
  // values, rounded to its precision. `gradient` is the gradient of this range
  // only, not of the whole parameter.
  void Update(const OptimizerStep& step, int i, const TensorData& gradient);

  // Rounds the master weights of range `i`, and stores them in the parameter's
  // values. Does nothing if the range has no master weights.
  void WriteValues(int i);

  // Copies the values of range `i` to `to`, in the parameter's type
  // `precision`.
  void CopyRounded(int i, void* to);

  // Returns the state as slices in host memory, one for each kind of state and
  // each nonempty range. If the state is on a device, this call copies it to
  // the slices. Blocks.
  std::vector<CheckpointSlice> State();
  // Copies the state back to the device, from the memory that State returned.
  // Call it after that memory was changed.
  void TakeState();

  // The size of the state and the master weights in the device's memory, in
  // bytes.
  int64_t bytes() const;

 private:
  // One float32 array on the device: the master weights of all ranges, or one
  // kind of state (such as the momentum) of all ranges.
  struct Array {
    std::string name;
    std::shared_ptr<void> memory;
    int64_t count = 0;
    // The copy of the array in host memory. Empty if the device is the host,
    // and before the first call of State.
    std::vector<float> host;

    float* data() const { return static_cast<float*>(memory.get()); }
  };

  absl::Status Prepare();
  absl::Status Allocate(Array& array);
  bool is_master(const Array& array) const { return &array == &arrays_.back(); }
  // The position in `array` of the first element of range `i`.
  int64_t OffsetIn(const Array& array, int i) const;
  bool HasMaster(int i) const;
  float* Trained(int i) const;
  // The model's parameters of range `i`, in the type that the model computes
  // with. If that type is shorter than float, each parameter is the rounded
  // value of its master weight (a float copy that the optimiser updates).
  TensorData Values(int i) const;

  const std::shared_ptr<const UpdateRule> rule_;
  const std::vector<Tensor> parameters_;
  const std::vector<ParameterRange> ranges_;
  Device& device_;
  // offsets_[i]: the position of range i in each state array, in elements.
  // master_offsets_[i]: its position in the array of master weights.
  std::vector<int64_t> offsets_;
  std::vector<int64_t> master_offsets_;
  // The state arrays in the order of the rule's states, then the master
  // weights.
  std::vector<Array> arrays_;
  // The device's memory in which a sum of squares (SquareSum::Words) is
  // computed; null if the device is the host.
  std::shared_ptr<void> words_;
  absl::Status status_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_OPTIM_OPTIMIZER_SHARD_H_
