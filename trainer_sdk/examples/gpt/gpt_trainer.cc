#include "trainer_sdk/examples/gpt/gpt_trainer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/fnv_hash.h"
#include "trainer_sdk/optim/gradient_norm.h"
#include "trainer_sdk/process_group/operations.h"

namespace muster {

GptTrainer::GptTrainer(const GptTrainingOptions& options,
                       std::vector<int32_t> tokens, ProcessGroup& world)
    : options_(options),
      batches_(std::move(tokens), options.seed, options.batch,
               options.model.context),
      world_(world),
      weights_(options.model, {0, options.model.layers}),
      model_(weights_, options.batch, options.model.context),
      mean_(static_cast<size_t>(weights_.count())),
      square_(static_cast<size_t>(weights_.count())) {}

absl::StatusOr<std::unique_ptr<GptTrainer>> GptTrainer::Create(
    const GptTrainingOptions& options, std::vector<int32_t> tokens,
    ProcessGroup& world) {
  if (absl::Status wrong = options.model.Check(); !wrong.ok()) return wrong;
  if (options.micro_batches % world.size() != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        options.micro_batches, " micro-batches a step cannot be dealt out to ",
        world.size(), " ranks alike"));
  }
  std::unique_ptr<GptTrainer> trainer(
      new GptTrainer(options, std::move(tokens), world));
  if (absl::Status wrong = trainer->batches_.Check(); !wrong.ok()) return wrong;
  if (absl::Status status = trainer->Prepare(); !status.ok()) return status;
  return trainer;
}

absl::Status GptTrainer::Prepare() {
  weights_.Initialize(options_.seed);
  // The reducer has a group of its own, so that what the world does between
  // its buckets is in nobody's way.
  auto group = world_.Split(0, world_.rank(), "gradients");
  if (!group.ok()) return group.status();
  gradients_group_ = *std::move(group);
  std::vector<DdpParameter> parameters;
  for (const GptTensor& tensor : weights_.tensors()) {
    parameters.push_back(
        {.name = tensor.name,
         .count = tensor.count(),
         .rows = tensor.shape.size() > 1 ? tensor.shape[0] : 1});
  }
  DdpOptions options;
  options.place = GradientPlace::kBucket;
  auto reducer =
      Reducer::Create(*gradients_group_, std::move(parameters), options);
  if (!reducer.ok()) return reducer.status();
  reducer_ = *std::move(reducer);
  PlaceGradients();
  return absl::OkStatus();
}

void GptTrainer::PlaceGradients() {
  // Several micro-batches' gradients are computed aside, each by itself.
  if (micro_batches_of_rank() > 1) return;
  for (int i = 0; i < static_cast<int>(weights_.tensors().size()); ++i) {
    weights_.PlaceGradient(i, gradient(i));
  }
}

void GptTrainer::Accumulate(int tensor, int64_t index) {
  if (micro_batches_of_rank() == 1) return;
  const float* const part = weights_.gradient(tensor);
  float* const sum = gradient(tensor);
  const int64_t count = weights_.tensors()[tensor].count();
  if (index == 0) {
    std::copy_n(part, count, sum);
    return;
  }
  for (int64_t i = 0; i < count; ++i) sum[i] += part[i];
}

absl::StatusOr<double> GptTrainer::Pass(int64_t step, int64_t index) {
  const int64_t mine = micro_batches_of_rank();
  absl::Status status = reducer_->Begin(
      index + 1 < mine ? GradientSync::kAccumulate : GradientSync::kReduce);
  if (!status.ok()) return status;
  weights_.ZeroGradients();
  GptMicroBatch micro_batch =
      batches_.Training(step, world_.rank() * mine + index);
  std::vector<float> stream;
  model_.Forward(&micro_batch, &stream);
  // The reducer averages over the ranks.
  const double loss =
      model_.Loss(&micro_batch, stream, 1 / static_cast<float>(mine));
  model_.Backward(&micro_batch, &stream, [&](int tensor) {
    if (!status.ok()) return;
    Accumulate(tensor, index);
    status = reducer_->MarkReady(tensor);
  });
  if (status.ok()) status = reducer_->Finish();
  if (!status.ok()) return status;
  return loss;
}

absl::StatusOr<GptStep> GptTrainer::Step(int64_t step) {
  const int64_t mine = micro_batches_of_rank();
  double loss = 0;
  for (int64_t i = 0; i < mine; ++i) {
    const absl::StatusOr<double> part = Pass(step, i);
    if (!part.ok()) return part.status();
    loss += *part / static_cast<double>(mine);
  }
  // The first pass may have moved them.
  PlaceGradients();
  GptStep done;
  done.gradient_norm = ClipGradients();
  done.learning_rate = options_.learning_rate.At(step);
  Update(step, done.learning_rate);
  const absl::StatusOr<double> mean = MeanOverRanks(loss);
  if (!mean.ok()) return mean.status();
  done.loss = *mean;
  return done;
}

double GptTrainer::ClipGradients() {
  double squares = 0;
  for (size_t i = 0; i < weights_.tensors().size(); ++i) {
    squares += SumOfSquares(gradient(static_cast<int>(i)),
                            weights_.tensors()[i].count());
  }
  const double factor =
      options_.clip > 0 ? ClipCoefficient(squares, options_.clip) : 1;
  for (size_t i = 0; factor != 1 && i < weights_.tensors().size(); ++i) {
    Scale(gradient(static_cast<int>(i)), weights_.tensors()[i].count(), factor);
  }
  return std::sqrt(squares);
}

void GptTrainer::Update(int64_t step, double learning_rate) {
  for (int i = 0; i < static_cast<int>(weights_.tensors().size()); ++i) {
    const GptTensor& tensor = weights_.tensors()[i];
    AdamWOptions options = options_.adamw;
    // Scales and biases are not pulled towards zero.
    if (tensor.shape.size() == 1) options.weight_decay = 0;
    const int64_t offset = weights_.value(i) - weights_.data();
    AdamWStep(options, learning_rate, step + 1, tensor.count(),
              weights_.value(i), gradient(i), mean_.data() + offset,
              square_.data() + offset);
  }
}

absl::StatusOr<double> GptTrainer::MeanOverRanks(double value) {
  const absl::Status status =
      world_.Run(AllReduce(&value, &value, 1, DType::kFloat64, ReduceOp::kAvg));
  if (!status.ok()) return status;
  return value;
}

absl::StatusOr<double> GptTrainer::Validate() {
  double loss = 0;
  int64_t mine = 0;
  for (int64_t i = world_.rank(); i < options_.validation_batches;
       i += world_.size()) {
    GptMicroBatch batch = batches_.Validation(i);
    std::vector<float> stream;
    model_.Forward(&batch, &stream);
    loss += model_.LossOnly(&batch, stream);
    ++mine;
  }
  const absl::StatusOr<double> sum = MeanOverRanks(loss);
  if (!sum.ok()) return sum.status();
  return *sum * world_.size() /
         static_cast<double>(options_.validation_batches);
}

uint64_t GptTrainer::WeightsHash() const {
  FnvHash hash;
  for (int64_t i = 0; i < weights_.count(); ++i) {
    uint32_t bits;
    std::memcpy(&bits, weights_.data() + i, sizeof(bits));
    hash.AddWord(bits);
  }
  return hash.value();
}

}  // namespace muster
