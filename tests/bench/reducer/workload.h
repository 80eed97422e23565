#ifndef MUSTER_TESTS_BENCH_REDUCER_WORKLOAD_H_
#define MUSTER_TESTS_BENCH_REDUCER_WORKLOAD_H_

#include <cstdint>
#include <string>
#include <vector>

#include "trainer_sdk/ddp/parameter.h"

namespace muster {

// The arithmetic of a backward pass through linear layers, without a model: for
// each weight its gradient and that of the layer's input.
struct WorkloadShape {
  int layers = 0;
  int64_t inputs = 0;
  int64_t outputs = 0;
  int64_t batch = 0;
};

// "block": weights and tokens of a small GPT. "tiny": a thousand weights whose
// gradients take a microsecond each. "large": few of a million elements each.
// No layers for another name.
WorkloadShape ShapeOf(const std::string& name);

class Workload {
 public:
  explicit Workload(const WorkloadShape& shape);

  // Where gradients are in memory of its own.
  std::vector<DdpParameter> parameters();

  // From the last layer to the first; `place` says where a gradient goes and
  // `ready` is told of it when it is there. A template, so that a bare loop is
  // one.
  template <typename Place, typename Ready>
  void Backward(Place place, Ready ready) {
    for (int layer = shape_.layers - 1; layer >= 0; --layer) {
      Layer(place(layer));
      ready(layer);
    }
  }
  // The bare loop.
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
