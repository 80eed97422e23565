#ifndef MUSTER_TESTS_BENCH_REDUCER_WORKLOAD_H_
#define MUSTER_TESTS_BENCH_REDUCER_WORKLOAD_H_

#include <cstdint>
#include <string>
#include <vector>

#include "trainer_sdk/tensor/tensor.h"

namespace muster {

// The sizes of a simulated model, which consists of equal linear layers. A
// backward pass through them computes the gradients of each layer's weights and
// input.
struct WorkloadShape {
  int layers = 0;
  int64_t inputs = 0;
  int64_t outputs = 0;
  int64_t batch = 0;
};

// Returns the sizes of the workload `name`. "block": weights and tokens of a
// small GPT. "tiny": a thousand weights, each of whose gradients takes a
// microsecond. "large": a few weights of a million elements each. Any other
// name: no layers.
WorkloadShape ShapeOf(const std::string& name);

class Workload {
 public:
  explicit Workload(const WorkloadShape& shape);

  // Returns the layers' weights as tensors for the Reducer. Their gradients are
  // in memory of this workload.
  std::vector<Tensor> tensors();

  // Runs the backward pass from the last layer to the first. `place(layer)`:
  // returns the memory for the layer's gradient. `ready(layer)`: called when
  // the gradient is complete. A template, so that calls of `place` and `ready`
  // are inlined.
  template <typename Place, typename Ready>
  void Backward(Place place, Ready ready) {
    for (int layer = shape_.layers - 1; layer >= 0; --layer) {
      Layer(place(layer));
      ready(layer);
    }
  }
  // Runs the backward pass without a reducer.
  void Backward() {
    Backward([&](int layer) { return gradients_[layer].data(); }, [](int) {});
  }

 private:
  void Layer(float* gradient);

  const WorkloadShape shape_;
  std::vector<float> weights_;
  std::vector<float> inputs_;
  std::vector<float> output_gradient_;
  std::vector<float> input_gradient_;
  std::vector<std::vector<float>> gradients_;
};

}  // namespace muster

#endif  // MUSTER_TESTS_BENCH_REDUCER_WORKLOAD_H_
