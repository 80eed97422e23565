#include "trainer_sdk/optim/optimizer_shard.h"

#include <cstddef>
#include <utility>

#include "base/check.h"

namespace muster {
namespace {

constexpr auto kCompute = Device::Stream::kCompute;
constexpr int64_t kFloat = sizeof(float);

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

}  // namespace

OptimizerShard::OptimizerShard(std::shared_ptr<const UpdateRule> rule,
                               std::vector<Tensor> parameters,
                               std::vector<ParameterRange> ranges,
                               Device& device)
    : rule_(std::move(rule)),
      parameters_(std::move(parameters)),
      ranges_(std::move(ranges)),
      device_(device) {
  MUSTER_CHECK(rule_ != nullptr) << "an optimizer without a rule";
  for (const Tensor& parameter : parameters_) CheckParameter(parameter);
  status_ = Prepare();
}

absl::Status OptimizerShard::Prepare() {
  absl::Status status = device_.Update(*rule_, {.step = 1}, {});
  for (const std::string& name : rule_->states()) {
    arrays_.push_back({.name = name});
  }
  arrays_.push_back({.name = "master"});
  int64_t count = 0;
  int64_t masters = 0;
  for (size_t i = 0; i < ranges_.size(); ++i) {
    offsets_.push_back(count);
    master_offsets_.push_back(masters);
    count += ranges_[i].count();
    if (HasMaster(static_cast<int>(i))) masters += ranges_[i].count();
  }
  for (Array& array : arrays_) {
    array.count = is_master(array) ? masters : count;
    if (status.ok()) status = Allocate(array);
  }
  if (!device_.is_host() && status.ok()) {
    auto words = device_.Allocate(sizeof(SquareSum::Words));
    if (!words.ok()) return words.status();
    words_ = *std::move(words);
  }
  if (!status.ok()) return status;
  for (size_t i = 0; i < ranges_.size(); ++i) {
    const int range = static_cast<int>(i);
    if (!HasMaster(range)) continue;
    device_.Convert(kCompute, Values(range),
                    {Trained(range), ranges_[i].count(), DType::kFloat32},
                    DType::kFloat32);
  }
  // Round the whole parameters, not only this rank's ranges of them, so that
  // forward and backward passes use the same values on all ranks.
  for (const Tensor& parameter : parameters_) {
    const TensorData& value = parameter.value;
    if (value.dtype == parameter.precision) continue;
    device_.Convert(kCompute, value, value, parameter.precision);
  }
  return device_.status();
}

absl::Status OptimizerShard::Allocate(Array& array) {
  auto memory = device_.Allocate(array.count * kFloat);
  if (!memory.ok()) return memory.status();
  array.memory = *std::move(memory);
  device_.Zero(kCompute, array.data(), array.count * kFloat);
  return absl::OkStatus();
}

bool OptimizerShard::HasMaster(int i) const {
  return parameters_[ranges_[i].parameter].precision != DType::kFloat32;
}

float* OptimizerShard::Trained(int i) const {
  if (!HasMaster(i)) return static_cast<float*>(Values(i).data);
  return arrays_.back().data() + OffsetIn(arrays_.back(), i);
}

int64_t OptimizerShard::OffsetIn(const Array& array, int i) const {
  return (is_master(array) ? master_offsets_ : offsets_)[i];
}

TensorData OptimizerShard::Values(int i) const {
  const ParameterRange& range = ranges_[i];
  const TensorData& value = parameters_[range.parameter].value;
  return {static_cast<char*>(value.data) + range.begin * SizeOf(value.dtype),
          range.count(), value.dtype};
}

absl::StatusOr<SquareSum::Words> OptimizerShard::SquaresOf(
    const std::vector<TensorData>& views) {
  SquareSum::Words words{};
  if (device_.is_host()) {
    SquareSum sum;
    for (const TensorData& view : views) sum.Add(view);
    return sum.words();
  }
  auto* const there = static_cast<int64_t*>(words_.get());
  device_.Zero(kCompute, there, sizeof(words));
  for (const TensorData& view : views) device_.AddSquares(view, there);
  device_.CopyOut(words.data(), there, sizeof(words));
  if (absl::Status status = device_.status(); !status.ok()) return status;
  SquareSum::Carry(&words);
  return words;
}

void OptimizerShard::Update(const OptimizerStep& step, int i,
                            const TensorData& gradient) {
  const Tensor& parameter = parameters_[ranges_[i].parameter];
  WeightUpdate update{.count = ranges_[i].count(),
                      .decay = parameter.decay,
                      .weights = Trained(i),
                      .gradient = gradient,
                      .precision = parameter.precision};
  for (size_t n = 0; n + 1 < arrays_.size(); ++n) {
    update.states.push_back(arrays_[n].data() + offsets_[i]);
  }
  if (HasMaster(i)) update.values = Values(i);
  const absl::Status status = device_.Update(*rule_, step, update);
  MUSTER_CHECK(status.ok()) << status.message();
}

void OptimizerShard::WriteValues(int i) {
  if (!HasMaster(i)) return;
  device_.Convert(kCompute, {Trained(i), ranges_[i].count(), DType::kFloat32},
                  Values(i), parameters_[ranges_[i].parameter].precision);
}

void OptimizerShard::CopyRounded(int i, void* to) {
  const int64_t count = ranges_[i].count();
  const DType precision = parameters_[ranges_[i].parameter].precision;
  device_.Convert(kCompute, {Trained(i), count, DType::kFloat32},
                  {to, count, precision}, precision);
}

std::vector<CheckpointSlice> OptimizerShard::State() {
  if (!device_.is_host() && status_.ok()) {
    for (Array& array : arrays_) {
      array.host.resize(static_cast<size_t>(array.count));
      device_.CopyOut(array.host.data(), array.data(), array.count * kFloat);
    }
  }
  std::vector<CheckpointSlice> slices;
  for (size_t i = 0; i < ranges_.size(); ++i) {
    const ParameterRange& range = ranges_[i];
    const Tensor& parameter = parameters_[range.parameter];
    for (Array& array : arrays_) {
      if (range.count() == 0) continue;
      if (is_master(array) && !HasMaster(static_cast<int>(i))) continue;
      float* const data = device_.is_host() ? array.data() : array.host.data();
      slices.push_back({.tensor = {.name = array.name + "/" + parameter.name,
                                   .dtype = DType::kFloat32,
                                   .shape = parameter.shape},
                        .begin = range.begin,
                        .end = range.end,
                        .data = data + OffsetIn(array, static_cast<int>(i))});
    }
  }
  return slices;
}

void OptimizerShard::TakeState() {
  for (const Array& array : arrays_) {
    device_.CopyIn(array.data(), array.host.data(),
                   static_cast<int64_t>(array.host.size()) * kFloat);
  }
}

int64_t OptimizerShard::bytes() const {
  int64_t floats = 0;
  for (const Array& array : arrays_) floats += array.count;
  return floats * kFloat;
}

}  // namespace muster
