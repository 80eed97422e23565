#include "trainer_sdk/data_parallel/data_parallel.h"

#include <cstddef>
#include <utility>

#include "trainer_sdk/ddp/broadcast_parameters.h"
#include "trainer_sdk/optim/replicated_optimizer.h"
#include "trainer_sdk/zero/scatter_hook.h"
#include "trainer_sdk/zero/sharded_optimizer.h"

namespace muster {
namespace {

int64_t BytesOf(const TensorData& data) {
  return data.count * SizeOf(data.dtype);
}

}  // namespace

DataParallel::DataParallel(std::vector<Tensor> tensors,
                           std::unique_ptr<ProcessGroup> group)
    : tensors_(std::move(tensors)),
      marked_(tensors_.size(), false),
      group_(std::move(group)) {}
DataParallel::~DataParallel() = default;

absl::StatusOr<std::unique_ptr<DataParallel>> DataParallel::Create(
    ProcessGroup& world, const std::vector<Tensor>& tensors,
    std::shared_ptr<const UpdateRule> rule, DataParallelOptions options) {
  const bool sharded = options.state == DataParallelOptions::State::kSharded;
  if (absl::Status wrong = CheckTensors(tensors); !wrong.ok()) return wrong;
  if (rule == nullptr) {
    return absl::InvalidArgumentError("an optimizer without a rule");
  }
  if (options.ddp.place == GradientPlace::kBucket) {
    return absl::InvalidArgumentError(
        "the gradients of tensors lie where the tensors say, not in buckets");
  }
  auto group = world.Split(0, world.rank(), "data_parallel");
  if (!group.ok()) return group.status();
  std::unique_ptr<DataParallel> made(
      new DataParallel(tensors, *std::move(group)));
  const absl::Status same = BroadcastParameters(
      *made->group_, tensors,
      options.ddp.device == nullptr ? HostDevice() : *options.ddp.device);
  if (!same.ok()) return same;
  if (sharded) options.ddp = ForSharding(std::move(options.ddp));
  auto reducer = Reducer::Create(*made->group_, tensors, options.ddp);
  if (!reducer.ok()) return reducer.status();
  made->reducer_ = *std::move(reducer);
  if (sharded) {
    auto optimizer = ShardedOptimizer::Create(*made->group_, *made->reducer_,
                                              std::move(rule), tensors);
    if (!optimizer.ok()) return optimizer.status();
    made->optimizer_ = *std::move(optimizer);
  } else {
    auto optimizer = std::make_unique<ReplicatedOptimizer>(
        std::move(rule), tensors,
        [reducer = made->reducer_.get()](int parameter) {
          return reducer->average(parameter);
        },
        made->reducer_->device());
    if (!optimizer->status().ok()) return optimizer->status();
    made->optimizer_ = std::move(optimizer);
  }
  return made;
}

absl::Status DataParallel::Begin(GradientSync sync) {
  marked_.assign(tensors_.size(), false);
  return reducer_->Begin(sync);
}

absl::Status DataParallel::MarkReady(int tensor) {
  if (tensor < 0 || static_cast<size_t>(tensor) >= tensors_.size()) {
    return absl::InvalidArgumentError("there is no such tensor");
  }
  marked_[static_cast<size_t>(tensor)] = true;
  return reducer_->MarkReady(tensor);
}

absl::Status DataParallel::Finish() {
  // Mark gradients from last to first, the order in which a backward pass
  // produces them.
  for (size_t i = tensors_.size(); i-- > 0;) {
    if (marked_[i]) continue;
    const absl::Status status = reducer_->MarkReady(static_cast<int>(i));
    if (!status.ok()) return status;
  }
  return reducer_->Finish();
}

absl::StatusOr<double> DataParallel::SumOfSquares() {
  return optimizer_->SumOfSquares();
}

absl::Status DataParallel::Step(const OptimizerStep& step) {
  return optimizer_->Step(step);
}

std::vector<CheckpointSlice> DataParallel::State() {
  std::vector<CheckpointSlice> slices = optimizer_->State();
  Device& device = reducer_->device();
  if (!device.is_host()) host_values_.resize(tensors_.size());
  for (size_t i = 0; i < tensors_.size(); ++i) {
    Tensor tensor = tensors_[i];
    if (!device.is_host()) {
      std::vector<char>& copy = host_values_[i];
      copy.resize(static_cast<size_t>(BytesOf(tensor.value)));
      device.CopyOut(copy.data(), tensor.value.data, BytesOf(tensor.value));
      tensor.value.data = copy.data();
    }
    slices.push_back(WholeTensor(tensor));
  }
  return slices;
}

absl::Status DataParallel::OnStateLoaded() {
  for (size_t i = 0; i < host_values_.size(); ++i) {
    const TensorData& value = tensors_[i].value;
    reducer_->device().CopyIn(value.data, host_values_[i].data(),
                              BytesOf(value));
  }
  return optimizer_->OnStateLoaded();
}

}  // namespace muster
