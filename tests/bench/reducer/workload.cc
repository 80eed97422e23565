#include "tests/bench/reducer/workload.h"

#include <cblas.h>

#include <cmath>
#include <cstddef>

#include "absl/strings/str_cat.h"

namespace muster {
namespace {

std::vector<float> Numbers(int64_t count) {
  std::vector<float> numbers(static_cast<size_t>(count));
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = static_cast<float>(std::sin(0.1 * static_cast<double>(i)));
  }
  return numbers;
}

}  // namespace

WorkloadShape ShapeOf(const std::string& name) {
  if (name == "block") return {16, 128, 384, 768};
  if (name == "tiny") return {1000, 16, 16, 64};
  if (name == "large") return {8, 1024, 1024, 64};
  return {};
}

Workload::Workload(const WorkloadShape& shape)
    : shape_(shape),
      weights_(Numbers(shape.inputs * shape.outputs)),
      inputs_(Numbers(shape.batch * shape.inputs)),
      output_gradient_(Numbers(shape.batch * shape.outputs)),
      input_gradient_(inputs_.size()),
      gradients_(static_cast<size_t>(shape.layers),
                 std::vector<float>(weights_.size())) {}

std::vector<Tensor> Workload::tensors() {
  std::vector<Tensor> tensors;
  for (std::vector<float>& gradient : gradients_) {
    tensors.push_back({.name = absl::StrCat("weight", tensors.size()),
                       .shape = {shape_.inputs, shape_.outputs},
                       .gradient = gradient});
  }
  return tensors;
}

void Workload::Layer(float* gradient) {
  const auto batch = static_cast<int>(shape_.batch);
  const auto inputs = static_cast<int>(shape_.inputs);
  const auto outputs = static_cast<int>(shape_.outputs);
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, batch, inputs, outputs,
              1, output_gradient_.data(), outputs, weights_.data(), outputs, 0,
              input_gradient_.data(), inputs);
  cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, inputs, outputs, batch,
              1, inputs_.data(), inputs, output_gradient_.data(), outputs, 0,
              gradient, outputs);
}

}  // namespace muster
