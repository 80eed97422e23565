#include "models/trainer/host_gpt_trainer.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "base/monotonic_clock.h"
#include "models/gpt/gpt_config.h"
#include "models/kernels/matrix_product.h"
#include "models/trainer/gpt_trainer.h"
#include "trainer_sdk/ddp/pairwise_hook.h"
#include "trainer_sdk/optim/replicated_optimizer.h"
#include "trainer_sdk/optim/step_plan.h"
#include "trainer_sdk/process_group/operations.h"
#include "trainer_sdk/timeline/timeline_recorder.h"
#include "trainer_sdk/zero/scatter_hook.h"
#include "trainer_sdk/zero/sharded_optimizer.h"

namespace muster::models {
namespace {

// The smallest useful loss scale. If a gradient still overflows float16 at this
// scale, the scale is not the cause.
constexpr double kLeastScale = 1.0 / 1024;

// Measures the FLOP/s that all ranks of a world together reach with matrix
// products only. All ranks compute at the same time, for a fraction of a
// second. The result is the peak for MFU (model FLOPs utilisation) if the user
// gives none. Collective.
absl::StatusOr<double> MeasureMatrixRate(ProcessGroup& world) {
  // The number of rows of the multiplied matrices: large enough that the matrix
  // library reaches its maximum speed, small enough for the processor's cache.
  constexpr int64_t kSize = 384;
  constexpr int kTrials = 5;
  constexpr Duration kLongEnough = std::chrono::milliseconds(50);
  std::vector<float> a(kSize * kSize, 0.5f);
  std::vector<float> b(kSize * kSize, 0.25f);
  std::vector<float> c(kSize * kSize);
  const auto multiply = [&] {
    MatrixProduct(
        Form::kPlain, MatrixView<const float>::Dense(a.data(), kSize, kSize),
        Form::kPlain, MatrixView<const float>::Dense(b.data(), kSize, kSize), 1,
        0, MatrixView<float>::Dense(c.data(), kSize, kSize));
  };
  multiply();  // not measured: the first product starts the threads
  // The highest FLOP/s of several runs, because another program may slow down
  // some of the runs.
  double best = 0;
  for (int i = 0; i < kTrials; ++i) {
    // Wait for the other ranks, so that all ranks measure at the same time:
    // ranks on one machine share its processors.
    absl::Status status = world.Run(Barrier());
    if (!status.ok()) return status;
    const Instant begin = MonotonicNow();
    int64_t done = 0;
    Duration taken{};
    while (taken < kLongEnough) {
      multiply();
      ++done;
      taken = MonotonicNow() - begin;
    }
    double rate = static_cast<double>(2 * kSize * kSize * kSize * done) /
                  ToSeconds(taken);
    status = world.Run(AllReduce(&rate, &rate, 1, DType::kFloat64));
    if (!status.ok()) return status;
    best = std::max(best, rate);
  }
  return best;
}

}  // namespace

HostGptTrainer::HostGptTrainer(const GptTrainingOptions& options,
                               std::shared_ptr<const Tokens> tokens,
                               ProcessGroup& world)
    : options_(options),
      batches_(std::move(tokens), options.seed, options.batch,
               options.model.context),
      world_(world),
      weights_(options.model, {0, options.model.layers}),
      model_(weights_, options.batch, options.model.context,
             options.checkpointing),
      parts_(GptPartsOf(weights_.tensors(), options.model)),
      scaler_(options.loss_scale) {
  if (!options.timeline.empty()) {
    recorder_ = std::make_shared<TimelineRecorder>(options.timeline_steps);
  }
  if (is_mixed() && micro_batches_of_rank() > 1) {
    accumulated_.resize(static_cast<size_t>(weights_.count()));
  }
}

absl::StatusOr<std::unique_ptr<HostGptTrainer>> HostGptTrainer::Create(
    const GptTrainingOptions& options, std::shared_ptr<const Tokens> tokens,
    ProcessGroup& world) {
  if (absl::Status wrong = CheckTraining(options, tokens, world); !wrong.ok()) {
    return wrong;
  }
  std::unique_ptr<HostGptTrainer> trainer(
      new HostGptTrainer(options, std::move(tokens), world));
  if (absl::Status status = trainer->Prepare(); !status.ok()) return status;
  return trainer;
}

absl::Status HostGptTrainer::Prepare() {
  absl::Status status = FirstWeights(options_, world_, &weights_);
  if (status.ok()) status = MakeReducer();
  if (!status.ok()) return status;
  status = MakeOptimizer();
  if (!status.ok()) return status;
  progress_.scaler = scaler_.state();
  PlaceGradients();
  return absl::OkStatus();
}

std::vector<Tensor> HostGptTrainer::TensorsToTrain() {
  std::vector<Tensor> tensors;
  for (int i = 0; i < static_cast<int>(weights_.tensors().size()); ++i) {
    Tensor tensor = weights_.tensor(i);
    tensor.precision = options_.precision;
    if (!accumulated_.empty()) {
      tensor.gradient.data =
          accumulated_.data() + (weights_.value(i) - weights_.data());
    }
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

absl::Status HostGptTrainer::MakeReducer() {
  auto group = world_.Split(0, world_.rank(), "gradients");
  if (!group.ok()) return group.status();
  group_ = *std::move(group);
  DdpOptions options;
  options.place = GradientPlace::kBucket;
  options.observer = recorder_;
  if (is_mixed()) {
    options.place = GradientPlace::kOwnToBucket;
    options.narrow_to = options_.precision;
  }
  if (options_.order == GptTrainingOptions::GradientOrder::kPairwise) {
    const auto hook = PairwiseHook::Create(*group_);
    if (!hook.ok()) return hook.status();
    options.hook = *hook;
    pairs_ = std::make_unique<PairwiseSum>(micro_batches_of_rank(),
                                           weights_.count());
  }
  if (options_.sharding == GptTrainingOptions::Sharding::kZero1) {
    options = ForSharding(options);
  }
  auto reducer = Reducer::Create(*group_, TensorsToTrain(), options);
  if (!reducer.ok()) return reducer.status();
  reducer_ = *std::move(reducer);
  return absl::OkStatus();
}

absl::Status HostGptTrainer::MakeOptimizer() {
  const auto rule = AdamWRule(options_.adamw);
  if (options_.sharding == GptTrainingOptions::Sharding::kZero1) {
    auto sharded =
        ShardedOptimizer::Create(*group_, *reducer_, rule, TensorsToTrain());
    if (!sharded.ok()) return sharded.status();
    optimizer_ = *std::move(sharded);
  } else {
    optimizer_ = std::make_unique<ReplicatedOptimizer>(
        rule, TensorsToTrain(),
        [this](int parameter) { return reducer_->average(parameter); });
  }
  // OnStateLoaded rounds the initial weights to the training's precision before
  // the first step.
  return optimizer_->OnStateLoaded();
}

void HostGptTrainer::PlaceGradients() {
  // Make the backward pass write gradients directly into the reducer's buckets.
  // This is impossible if the buckets have another type, or if the rank has
  // several micro-batches, whose gradients are computed separately.
  if (is_mixed() || micro_batches_of_rank() > 1) return;
  for (int i = 0; i < static_cast<int>(weights_.tensors().size()); ++i) {
    weights_.PlaceGradient(i, static_cast<float*>(reducer_->gradient(i)));
  }
}

void HostGptTrainer::Accumulate(int tensor, int64_t index) {
  if (micro_batches_of_rank() == 1) return;
  float* const part = weights_.gradient(tensor);
  auto* const sum = static_cast<float*>(reducer_->gradient(tensor));
  const int64_t count = weights_.tensors()[tensor].count();
  if (pairs_ != nullptr) {
    pairs_->Add(index, weights_.value(tensor) - weights_.data(), count, part,
                sum);
    return;
  }
  if (index == 0) {
    std::copy_n(part, count, sum);
    return;
  }
  for (int64_t i = 0; i < count; ++i) sum[i] += part[i];
}

absl::StatusOr<double> HostGptTrainer::Pass(int64_t step, int64_t index) {
  const int64_t mine = micro_batches_of_rank();
  absl::StatusOr<GptMicroBatch> micro_batch =
      batches_.Training(step, world_.rank() * mine + index);
  if (!micro_batch.ok()) return micro_batch.status();
  absl::Status status = reducer_->Begin(
      index + 1 < mine ? GradientSync::kAccumulate : GradientSync::kReduce);
  if (!status.ok()) return status;
  weights_.ZeroGradients();
  std::vector<float> stream;
  double loss = 0;
  {
    const RecordedSpan forward(recorder_.get(), SpanKind::kForward, index);
    model_.Forward(&*micro_batch, &stream);
    // The factor of the loss contains the loss scale and divides by this rank's
    // number of micro-batches. The reducer then divides by the number of ranks.
    const double scale =
        options_.precision == DType::kFloat16 ? scaler_.scale() : 1;
    loss = model_.Loss(&*micro_batch, stream,
                       static_cast<float>(scale / static_cast<double>(mine)));
  }
  {
    const RecordedSpan backward(recorder_.get(), SpanKind::kBackward, index);
    RecordedParts parts(recorder_.get());
    model_.Backward(&*micro_batch, &stream, [&](int tensor) {
      if (!status.ok()) return;
      Accumulate(tensor, index);
      status = reducer_->MarkReady(tensor);
      parts.Made(parts_[static_cast<size_t>(tensor)]);
    });
  }
  if (status.ok()) status = reducer_->Finish();
  if (!status.ok()) return status;
  return loss;
}

absl::StatusOr<GptStep> HostGptTrainer::Step(int64_t step) {
  if (recorder_ != nullptr) recorder_->BeginStep(step);
  const RecordedSpan whole(recorder_.get(), SpanKind::kStep);
  const int64_t mine = micro_batches_of_rank();
  std::vector<double> losses(static_cast<size_t>(options_.micro_batches));
  for (int64_t i = 0; i < mine; ++i) {
    const absl::StatusOr<double> loss = Pass(step, i);
    if (!loss.ok()) return loss.status();
    losses[world_.rank() * mine + i] = *loss;
  }
  // The reducer may have moved its buckets in the first step, so tell the
  // backward pass again where to write the gradients.
  PlaceGradients();
  const double learning_rate = options_.learning_rate.At(step);
  const absl::StatusOr<double> norm = Update(step, learning_rate);
  if (!norm.ok()) return norm.status();
  const absl::StatusOr<double> mean = MeanLoss(world_, std::move(losses));
  if (!mean.ok()) return mean.status();
  return GptStep{
      .loss = *mean, .learning_rate = learning_rate, .gradient_norm = *norm};
}

absl::StatusOr<double> HostGptTrainer::Update(int64_t step,
                                              double learning_rate) {
  const RecordedSpan update(recorder_.get(), SpanKind::kUpdate);
  const absl::StatusOr<double> scaled = optimizer_->SumOfSquares();
  if (!scaled.ok()) return scaled.status();
  const StepPlan plan =
      PlanStep(*scaled, options_.clip,
               options_.precision == DType::kFloat16 ? &scaler_ : nullptr);
  progress_.scaler = scaler_.state();
  if (plan.verdict == LossScaler::Verdict::kSkip) {
    if (options_.precision == DType::kFloat16 &&
        scaler_.scale() >= kLeastScale) {
      return plan.norm;
    }
    return GradientIsNoNumber(step);
  }
  absl::Status status =
      optimizer_->Step({.step = ++progress_.updates,
                        .learning_rate = learning_rate,
                        .gradient_factor = plan.gradient_factor});
  if (!status.ok()) return status;
  return plan.norm;
}

absl::StatusOr<std::vector<CheckpointSlice>> HostGptTrainer::State() {
  std::vector<CheckpointSlice> slices = optimizer_->State();
  for (int i = 0; i < static_cast<int>(weights_.tensors().size()); ++i) {
    const GptTensor& tensor = weights_.tensors()[i];
    slices.push_back({.tensor = {.name = tensor.name, .shape = tensor.shape},
                      .begin = 0,
                      .end = tensor.count(),
                      .data = weights_.value(i)});
  }
  return slices;
}

absl::Status HostGptTrainer::Restore(const GptProgress& progress) {
  progress_ = progress;
  scaler_.Restore(progress.scaler);
  return optimizer_->OnStateLoaded();
}

absl::StatusOr<double> HostGptTrainer::Validate() {
  std::vector<double> losses(static_cast<size_t>(options_.validation_batches));
  for (int64_t i = world_.rank(); i < options_.validation_batches;
       i += world_.size()) {
    absl::StatusOr<GptMicroBatch> batch = batches_.Validation(i);
    if (!batch.ok()) return batch.status();
    std::vector<float> stream;
    model_.Forward(&*batch, &stream);
    losses[i] = model_.LossOnly(&*batch, stream);
  }
  return MeanLoss(world_, std::move(losses));
}

absl::StatusOr<double> HostGptTrainer::MeasurePeak() {
  return MeasureMatrixRate(world_);
}

absl::StatusOr<Timeline> HostGptTrainer::GatherTimelines() {
  if (recorder_ == nullptr) {
    return absl::FailedPreconditionError("no timeline was recorded");
  }
  auto ranks = GatherTimeline(world_, recorder_->spans());
  if (!ranks.ok()) return ranks.status();
  return Timeline{*std::move(ranks), GptPartNames(options_.model)};
}

}  // namespace muster::models
