#include "trainer_sdk/zero/sharded_optimizer.h"

#include <cstddef>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "trainer_sdk/optim/square_sum.h"
#include "trainer_sdk/process_group/operations.h"
#include "trainer_sdk/process_group/work.h"
#include "trainer_sdk/reduce/reduce.h"

namespace muster {
namespace {

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

void* Element(const GradientBucket& bucket, DType type, int64_t element) {
  return static_cast<char*>(bucket.data) + element * SizeOf(type);
}

}  // namespace

ShardedOptimizer::ShardedOptimizer(ProcessGroup& group, const Reducer& reducer,
                                   std::shared_ptr<const UpdateRule> rule,
                                   std::vector<Tensor> parameters,
                                   std::vector<ShardPiece> pieces)
    : group_(group),
      reducer_(reducer),
      pieces_(std::move(pieces)),
      shard_(std::move(rule), std::move(parameters), RangesOf(pieces_)) {}

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
  return std::unique_ptr<ShardedOptimizer>(
      new ShardedOptimizer(group, reducer, std::move(rule),
                           std::move(parameters), std::move(pieces)));
}

TensorData ShardedOptimizer::GradientOf(const ShardPiece& piece) const {
  const GradientBucket& bucket = reducer_.buckets()[piece.bucket];
  return {Element(bucket, bucket.dtype, piece.offset), piece.range.count(),
          bucket.dtype};
}

absl::StatusOr<double> ShardedOptimizer::SumOfSquares() {
  SquareSum sum;
  for (const ShardPiece& piece : pieces_) {
    sum.Add(GradientOf(piece));
  }
  SquareSum::Words words = sum.words();
  absl::Status status = group_.Run(AllReduce(words.data(), words.data(),
                                             static_cast<int64_t>(words.size()),
                                             DType::kInt64, ReduceOp::kSum));
  if (!status.ok()) return status;
  return SquareSum::Value(words);
}

absl::Status ShardedOptimizer::Step(const OptimizerStep& step) {
  if (absl::Status wrong = CheckStep(step); !wrong.ok()) return wrong;
  return Gather([&](int piece) {
    shard_.Update(step, piece, GradientOf(pieces_[piece]));
  });
}

absl::Status ShardedOptimizer::OnStateLoaded() {
  return Gather([](int) {});
}

template <typename Prepare>
absl::Status ShardedOptimizer::Gather(Prepare prepare) {
  // The next bucket is updated while one is gathered.
  std::vector<std::shared_ptr<Work>> works;
  size_t next = 0;
  for (const GradientBucket& bucket : reducer_.buckets()) {
    const size_t first = next;
    for (; next < pieces_.size() && pieces_[next].bucket == bucket.index;
         ++next) {
      prepare(static_cast<int>(next));
    }
    // Written only now, because the gradients were in the same memory.
    const DType type = TypeOfValues(bucket);
    for (size_t i = first; i < next; ++i) {
      shard_.CopyRounded(static_cast<int>(i),
                         Element(bucket, type, pieces_[i].offset));
    }
    const int64_t begin =
        ShardBegin(bucket.count, group_.rank(), group_.size());
    works.push_back(group_.Start(
        AllGather(Element(bucket, type, begin), bucket.data,
                  ShardCounts(bucket.count, group_.size()), type)));
  }
  absl::Status failure;
  for (const GradientBucket& bucket : reducer_.buckets()) {
    const absl::Status status = works[bucket.index]->Wait();
    if (failure.ok()) failure = status;
    if (failure.ok()) TakeFromBucket(bucket);
  }
  return failure;
}

DType ShardedOptimizer::TypeOfValues(const GradientBucket& bucket) const {
  return shard_.parameters()[bucket.parts[0].parameter].precision;
}

void ShardedOptimizer::TakeFromBucket(const GradientBucket& bucket) {
  const DType type = TypeOfValues(bucket);
  for (const GradientBucket::Part& part : bucket.parts) {
    const Tensor& parameter = shard_.parameters()[part.parameter];
    const void* const from = Element(bucket, type, part.offset);
    if (part.count == 0) continue;
    if (parameter.value.dtype == type) {
      std::memcpy(parameter.value.data, from,
                  static_cast<size_t>(part.count * SizeOf(type)));
    } else {
      Widen(type, from, static_cast<float*>(parameter.value.data), part.count);
    }
  }
}

}  // namespace muster
