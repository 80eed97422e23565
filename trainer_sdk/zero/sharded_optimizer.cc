#include "trainer_sdk/zero/sharded_optimizer.h"

#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "trainer_sdk/optim/square_sum.h"
#include "trainer_sdk/process_group/operations.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster {
namespace {

constexpr auto kCompute = Device::Stream::kCompute;
constexpr auto kCommunication = Device::Stream::kCommunication;

std::vector<ParameterRange> RangesOf(const std::vector<ShardPiece>& pieces) {
  std::vector<ParameterRange> ranges;
  for (const ShardPiece& piece : pieces) ranges.push_back(piece.range);
  return ranges;
}

absl::Status CheckReducer(const ProcessGroup& group, const Reducer& reducer) {
  if (reducer.options().place == GradientPlace::kOwn ||
      reducer.options().order != BucketOrder::kReverse) {
    return absl::InvalidArgumentError(
        "an optimizer with sharded state needs averages in buckets that stay "
        "as they are: make the reducer with ForSharding(options)");
  }
  if (group.size() != reducer.ranks()) {
    return absl::InvalidArgumentError(
        absl::StrCat("an optimizer sharded over ", group.size(),
                     " ranks cannot take the gradients of ", reducer.ranks()));
  }
  return absl::OkStatus();
}

absl::Status CheckParameters(const std::vector<GradientBucket>& buckets,
                             const std::vector<Tensor>& parameters) {
  size_t reduced = 0;
  for (const GradientBucket& bucket : buckets) {
    reduced += bucket.parts.size();
  }
  if (reduced != parameters.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the reducer has ", reduced, " parameters, the optimizer ",
                     parameters.size()));
  }
  for (const Tensor& parameter : parameters) {
    absl::Status wrong = CheckData(parameter, parameter.value, "value");
    if (!wrong.ok()) return wrong;
  }
  for (const GradientBucket& bucket : buckets) {
    const Tensor& first = parameters[bucket.parts[0].parameter];
    for (const GradientBucket::Part& part : bucket.parts) {
      const Tensor& parameter = parameters[part.parameter];
      if (parameter.count() != part.count) {
        return absl::InvalidArgumentError(absl::StrCat(
            "parameter '", parameter.name, "' has ", parameter.count(),
            " elements, its gradient ", part.count));
      }
      if (parameter.precision != first.precision) {
        return absl::InvalidArgumentError(absl::StrCat(
            "parameters '", first.name, "' in ", Name(first.precision),
            " and '", parameter.name, "' in ", Name(parameter.precision),
            " cannot be gathered in one bucket, into which gradients of ",
            Name(bucket.dtype), " were put"));
      }
      if (SizeOf(parameter.precision) > SizeOf(bucket.dtype)) {
        return absl::InvalidArgumentError(absl::StrCat(
            "the values of parameter '", parameter.name, "', in ",
            Name(parameter.precision), ", have no room where its gradient is, ",
            "in ", Name(bucket.dtype)));
      }
    }
  }
  return absl::OkStatus();
}

void* Element(void* data, DType type, int64_t element) {
  return static_cast<char*>(data) + element * SizeOf(type);
}

}  // namespace

ShardedOptimizer::ShardedOptimizer(ProcessGroup& group, const Reducer& reducer,
                                   std::shared_ptr<const UpdateRule> rule,
                                   std::vector<Tensor> parameters,
                                   std::vector<ShardPiece> pieces)
    : group_(group),
      reducer_(reducer),
      pieces_(std::move(pieces)),
      shard_(std::move(rule), std::move(parameters), RangesOf(pieces_),
             reducer.device()),
      values_(FindValues()) {}

absl::StatusOr<std::unique_ptr<ShardedOptimizer>> ShardedOptimizer::Create(
    ProcessGroup& group, const Reducer& reducer,
    std::shared_ptr<const UpdateRule> rule, std::vector<Tensor> parameters) {
  if (rule == nullptr) {
    return absl::InvalidArgumentError("an optimizer without a rule");
  }
  if (absl::Status wrong = CheckReducer(group, reducer); !wrong.ok()) {
    return wrong;
  }
  if (absl::Status wrong = CheckParameters(reducer.buckets(), parameters);
      !wrong.ok()) {
    return wrong;
  }
  std::vector<ShardPiece> pieces =
      PiecesOf(reducer.buckets(), group.rank(), group.size());
  std::unique_ptr<ShardedOptimizer> optimizer(
      new ShardedOptimizer(group, reducer, std::move(rule),
                           std::move(parameters), std::move(pieces)));
  if (!optimizer->shard_.status().ok()) return optimizer->shard_.status();
  return optimizer;
}

std::vector<void*> ShardedOptimizer::FindValues() const {
  std::vector<void*> found;
  for (const GradientBucket& bucket : reducer_.buckets()) {
    void* begin = nullptr;
    bool fits = reducer_.options().place == GradientPlace::kInPlace;
    for (const GradientBucket::Part& part : bucket.parts) {
      if (part.count == 0) continue;
      const Tensor& parameter = shard_.parameters()[part.parameter];
      const DType type = parameter.value.dtype;
      void* const here = Element(parameter.value.data, type, -part.offset);
      if (begin == nullptr) begin = here;
      if (begin != here || type != parameter.precision) fits = false;
    }
    found.push_back(fits ? begin : nullptr);
  }
  return found;
}

TensorData ShardedOptimizer::GradientOf(const ShardPiece& piece) const {
  const GradientBucket& bucket = reducer_.buckets()[piece.bucket];
  return {bucket.at(piece.offset), piece.range.count(), bucket.dtype};
}

absl::StatusOr<double> ShardedOptimizer::SumOfSquares() {
  std::vector<TensorData> gradients;
  for (const ShardPiece& piece : pieces_)
    gradients.push_back(GradientOf(piece));
  auto words = shard_.SquaresOf(gradients);
  if (!words.ok()) return words.status();
  absl::Status status =
      RunFromHost(shard_.device(), group_,
                  AllReduce(words->data(), words->data(),
                            static_cast<int64_t>(words->size()), DType::kInt64,
                            ReduceOp::kSum));
  if (!status.ok()) return status;
  return SquareSum::Value(*words);
}

absl::Status ShardedOptimizer::Step(const OptimizerStep& step) {
  if (absl::Status wrong = CheckStep(step); !wrong.ok()) return wrong;
  return Gather([&](int piece) {
    shard_.Update(step, piece, GradientOf(pieces_[piece]));
  });
}

absl::Status ShardedOptimizer::OnStateLoaded() {
  shard_.TakeState();
  return Gather([&](int piece) {
    if (values_[pieces_[piece].bucket] != nullptr) shard_.WriteValues(piece);
  });
}

template <typename Prepare>
absl::Status ShardedOptimizer::Gather(Prepare prepare) {
  Device& device = shard_.device();
  // The gather operations in progress. Gathering is asynchronous: while one
  // bucket is gathered, the next bucket is updated.
  std::vector<Works> works;
  size_t next = 0;
  for (const GradientBucket& bucket : reducer_.buckets()) {
    const size_t first = next;
    for (; next < pieces_.size() && pieces_[next].bucket == bucket.index;
         ++next) {
      prepare(static_cast<int>(next));
    }
    const DType type = TypeOfValues(bucket);
    void* const values = values_[bucket.index];
    // If `values` is null, gather the values in the bucket's memory. This
    // memory held the gradients, which are no longer needed after the update.
    for (size_t i = first; i < next && values == nullptr; ++i) {
      shard_.CopyRounded(static_cast<int>(i),
                         Element(bucket.data, type, pieces_[i].offset));
    }
    device.WaitForOther(kCommunication);
    works.push_back(StartGather(values == nullptr ? bucket.data : values,
                                bucket.count, type));
  }
  absl::Status failure;
  for (const GradientBucket& bucket : reducer_.buckets()) {
    for (const std::shared_ptr<Work>& work : works[bucket.index]) {
      const absl::Status status = work->Wait();
      if (failure.ok()) failure = status;
    }
    device.WaitForOther(kCompute);
    if (failure.ok() && values_[bucket.index] == nullptr)
      TakeFromBucket(bucket);
  }
  return failure.ok() ? device.status() : failure;
}

ShardedOptimizer::Works ShardedOptimizer::StartGather(void* data, int64_t count,
                                                      DType type) {
  const int ranks = group_.size();
  const ShardForm form = ShardFormOf(&shard_.device());
  const std::vector<int64_t> counts = ShardCounts(count, ranks, form);
  // AllGather works in place: its input is this rank's part of `data`.
  void* const own =
      Element(data, type, ShardBegin(count, group_.rank(), ranks, form));
  Works works;
  const auto start = [&](Operation operation) {
    operation.stream = shard_.device().handle(kCommunication);
    works.push_back(group_.Start(std::move(operation)));
  };
  if (form == ShardForm::kEven) {
    start(AllGather(own, data, counts, type));
    return works;
  }
  start(AllGather(own, data, counts[0], type));
  const int64_t rest = count - counts[0] * ranks;
  if (rest == 0 || ranks == 1) return works;
  void* const at = Element(data, type, count - rest);
  start(Broadcast(at, at, rest, type, ranks - 1));
  return works;
}

DType ShardedOptimizer::TypeOfValues(const GradientBucket& bucket) const {
  return shard_.parameters()[bucket.parts[0].parameter].precision;
}

void ShardedOptimizer::TakeFromBucket(const GradientBucket& bucket) {
  const DType type = TypeOfValues(bucket);
  for (const GradientBucket::Part& part : bucket.parts) {
    const Tensor& parameter = shard_.parameters()[part.parameter];
    shard_.device().Convert(
        kCompute, {Element(bucket.data, type, part.offset), part.count, type},
        parameter.value, parameter.value.dtype);
  }
}

}  // namespace muster
