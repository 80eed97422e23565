#include "trainer_sdk/optim/optimizer_shard.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "trainer_sdk/optim/gradient_norm.h"
#include "trainer_sdk/reduce/reduce.h"

namespace muster {
namespace {

// The number of elements converted at a time, so that they fit the L1 cache.
constexpr int64_t kBlock = 2048;

const void* At(TensorData view, int64_t element) {
  return static_cast<const char*>(view.data) + element * SizeOf(view.dtype);
}

// The elements as float32: in place, or converted into `block`.
const float* Floats(TensorData view, int64_t begin, int64_t count,
                    float* block) {
  if (view.dtype == DType::kFloat32) {
    return static_cast<const float*>(At(view, begin));
  }
  Widen(view.dtype, At(view, begin), block, count);
  return block;
}

std::vector<std::string> NamesOf(const UpdateRule* rule) {
  MUSTER_CHECK(rule != nullptr) << "an optimizer without a rule";
  return rule->states();
}

void CheckParameter(const Tensor& parameter) {
  const absl::Status wrong = CheckData(parameter, parameter.value, "value");
  MUSTER_CHECK(wrong.ok()) << wrong.message();
  MUSTER_CHECK(parameter.precision == DType::kFloat32 ||
               parameter.precision == DType::kBFloat16 ||
               parameter.precision == DType::kFloat16)
      << "parameter '" << parameter.name << "' cannot be trained in "
      << Name(parameter.precision);
  MUSTER_CHECK(parameter.value.dtype == DType::kFloat32 ||
               parameter.value.dtype == parameter.precision)
      << "parameter '" << parameter.name << "' of "
      << Name(parameter.value.dtype) << " cannot hold "
      << Name(parameter.precision);
}

bool HasMaster(const Tensor& parameter) {
  return parameter.precision != DType::kFloat32;
}

char* ValueAt(const Tensor& parameter, int64_t element) {
  return static_cast<char*>(parameter.value.data) +
         element * SizeOf(parameter.value.dtype);
}

// Writes `from`, rounded, to the parameter's values beginning at element
// `begin`.
void WriteRounded(const Tensor& parameter, const float* from, int64_t begin,
                  int64_t count) {
  char* const to = ValueAt(parameter, begin);
  if (parameter.value.dtype == parameter.precision) {
    Narrow(from, parameter.precision, to, count);
    return;
  }
  std::array<uint16_t, kBlock> block;
  for (int64_t at = 0; at < count; at += kBlock) {
    const int64_t size = std::min(kBlock, count - at);
    Narrow(from + at, parameter.precision, block.data(), size);
    Widen(parameter.precision, block.data(), reinterpret_cast<float*>(to) + at,
          size);
  }
}

}  // namespace

OptimizerShard::OptimizerShard(std::shared_ptr<const UpdateRule> rule,
                               std::vector<Tensor> parameters,
                               std::vector<ParameterRange> ranges)
    : rule_(std::move(rule)),
      state_names_(NamesOf(rule_.get())),
      parameters_(std::move(parameters)),
      ranges_(std::move(ranges)) {
  int64_t count = 0;
  int64_t masters = 0;
  for (const Tensor& parameter : parameters_) {
    CheckParameter(parameter);
  }
  for (const ParameterRange& range : ranges_) {
    offsets_.push_back(count);
    master_offsets_.push_back(masters);
    count += range.count();
    if (HasMaster(parameters_[range.parameter])) masters += range.count();
  }
  for (size_t i = 0; i < state_names_.size(); ++i) {
    states_.emplace_back(static_cast<size_t>(count));
  }
  masters_.resize(static_cast<size_t>(masters));
  for (size_t i = 0; i < ranges_.size(); ++i) {
    const ParameterRange& range = ranges_[i];
    const Tensor& parameter = parameters_[range.parameter];
    if (!HasMaster(parameter)) continue;
    float* const master = masters_.data() + master_offsets_[i];
    const float* const floats =
        Floats(parameter.value, range.begin, range.count(), master);
    if (floats != master) std::copy_n(floats, range.count(), master);
  }
  // This includes the values in other ranks' ranges.
  for (const Tensor& parameter : parameters_) {
    if (parameter.value.dtype == parameter.precision) continue;
    const float* const values = static_cast<const float*>(parameter.value.data);
    WriteRounded(parameter, values, 0, parameter.count());
  }
}

float* OptimizerShard::Trained(int i) {
  const ParameterRange& range = ranges_[i];
  const Tensor& parameter = parameters_[range.parameter];
  return HasMaster(parameter)
             ? masters_.data() + master_offsets_[i]
             : reinterpret_cast<float*>(ValueAt(parameter, range.begin));
}

void OptimizerShard::Update(const OptimizerStep& step, int i,
                            TensorData gradient) {
  const ParameterRange& range = ranges_[i];
  const Tensor& parameter = parameters_[range.parameter];
  float* const weights = Trained(i);
  std::vector<float*> states;
  for (std::vector<float>& state : states_) {
    states.push_back(state.data() + offsets_[i]);
  }
  const bool as_is =
      gradient.dtype == DType::kFloat32 && step.gradient_factor == 1;
  const int64_t most = as_is ? range.count() : kBlock;
  std::array<float, kBlock> block;
  for (int64_t at = 0; at < range.count(); at += most) {
    const int64_t count = std::min(most, range.count() - at);
    const float* values = Floats(gradient, at, count, block.data());
    if (step.gradient_factor != 1) {
      if (values != block.data()) std::copy_n(values, count, block.data());
      Scale(block.data(), count, step.gradient_factor);
      values = block.data();
    }
    rule_->Update(step, parameter.decay, count, weights + at, values,
                  states.data());
    for (float*& state : states) state += count;
  }
  WriteValues(i);
}

void OptimizerShard::WriteValues(int i) const {
  const ParameterRange& range = ranges_[i];
  const Tensor& parameter = parameters_[range.parameter];
  if (!HasMaster(parameter)) return;
  WriteRounded(parameter, masters_.data() + master_offsets_[i], range.begin,
               range.count());
}

void OptimizerShard::CopyRounded(int i, void* to) {
  const ParameterRange& range = ranges_[i];
  const Tensor& parameter = parameters_[range.parameter];
  if (HasMaster(parameter)) {
    Narrow(Trained(i), parameter.precision, to, range.count());
  } else {
    std::copy_n(Trained(i), range.count(), static_cast<float*>(to));
  }
}

std::vector<CheckpointSlice> OptimizerShard::State() {
  std::vector<CheckpointSlice> slices;
  const auto add = [&](const std::string& name, const ParameterRange& range,
                       float* data) {
    if (range.count() == 0) return;
    const Tensor& parameter = parameters_[range.parameter];
    slices.push_back({.tensor = {.name = name + "/" + parameter.name,
                                 .dtype = DType::kFloat32,
                                 .shape = parameter.shape},
                      .begin = range.begin,
                      .end = range.end,
                      .data = data});
  };
  for (size_t i = 0; i < ranges_.size(); ++i) {
    for (size_t n = 0; n < states_.size(); ++n) {
      add(state_names_[n], ranges_[i], states_[n].data() + offsets_[i]);
    }
    if (HasMaster(parameters_[ranges_[i].parameter])) {
      add("master", ranges_[i], masters_.data() + master_offsets_[i]);
    }
  }
  return slices;
}

int64_t OptimizerShard::bytes() const {
  size_t floats = masters_.capacity();
  for (const std::vector<float>& state : states_) floats += state.capacity();
  return static_cast<int64_t>(floats * sizeof(float));
}

}  // namespace muster
