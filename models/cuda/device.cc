#include "models/cuda/device.h"

#include "models/cuda/kernels/convert.h"
#include "models/cuda/kernels/square_sum.h"
#include "models/cuda/kernels/weight_update.h"

namespace muster::models::cuda {

void Device::Convert(Stream stream, const TensorData& from,
                     const TensorData& to, DType precision) {
  if (from.dtype == to.dtype && precision == to.dtype) {
    Copy(stream, to.data, from.data, from.count * SizeOf(from.dtype));
  } else {
    cuda::Convert(from.data, from.dtype, from.count, to.data, to.dtype,
                  precision, Of(stream));
  }
}

void Device::AddSquares(const TensorData& values, int64_t* words) {
  cuda::AddSquares(values.data, values.dtype, values.count, words, stream());
}

absl::Status Device::Update(const UpdateRule& rule, const OptimizerStep& step,
                            const WeightUpdate& update) {
  const UpdateArrays arrays{
      .count = update.count,
      .gradient = update.gradient.data,
      .gradient_type = update.gradient.dtype,
      .weights = update.weights,
      .first = update.states.empty() ? nullptr : update.states[0],
      .second = update.states.size() < 2 ? nullptr : update.states[1],
      .values = update.values.data,
      .values_type = update.values.dtype,
      .precision = update.precision};
  const bool decays = update.decay == WeightDecay::kApplied;
  if (rule.adamw() != nullptr) {
    AdamWOptions options = *rule.adamw();
    if (!decays) options.weight_decay = 0;
    AdamWUpdate(options, step, arrays, stream());
  } else if (rule.sgd() != nullptr) {
    SgdOptions options = *rule.sgd();
    if (!decays) options.weight_decay = 0;
    SgdUpdate(options, step, arrays, stream());
  } else {
    return absl::InvalidArgumentError(
        "a GPU updates weights by AdamWRule or SgdRule, not by a rule of the "
        "caller's own");
  }
  return absl::OkStatus();
}

}  // namespace muster::models::cuda
