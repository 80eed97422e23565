#include "models/trainer/cuda_gpt_trainer.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

#include "models/cuda/device_matrix_rate.h"
#include "models/gpt/gpt_parts.h"
#include "models/gpt_cuda/cuda_weight_gather.h"
#include "models/trainer/gpt_beginning.h"
#include "trainer_sdk/optim/loss_scaler.h"
#include "trainer_sdk/optim/step_plan.h"
#include "trainer_sdk/optim/update_rule.h"
#include "trainer_sdk/process_group/operations.h"
#include "trainer_sdk/timeline/timeline_recorder.h"

namespace muster {
namespace {

// Large enough for the GPU's maximum speed.
constexpr int64_t kMatrixSize = 8192;

// Records the work enqueued from construction to destruction; nothing if the
// timeline is null.
class NotedSpan {
 public:
  NotedSpan(cuda::CudaStepTimeline* timeline, SpanKind kind, int64_t number = 0)
      : timeline_(timeline) {
    if (timeline_ != nullptr) timeline_->Begin(kind, number);
  }
  ~NotedSpan() {
    if (timeline_ != nullptr) timeline_->End();
  }
  NotedSpan(const NotedSpan&) = delete;
  NotedSpan& operator=(const NotedSpan&) = delete;

 private:
  cuda::CudaStepTimeline* const timeline_;
};

}  // namespace

template <typename T>
CudaGptTrainer<T>::CudaGptTrainer(const GptTrainingOptions& options,
                                  std::shared_ptr<const Tokens> tokens,
                                  ProcessGroup& world,
                                  std::unique_ptr<cuda::Device> device,
                                  std::unique_ptr<ProcessGroup> gradients)
    : options_(options),
      batches_(std::move(tokens), options.seed, options.batch,
               options.model.context),
      world_(world),
      device_(std::move(device)),
      group_(std::move(gradients)),
      host_(options.model, {0, options.model.layers}),
      arrays_(*device_),
      parts_(GptPartsOf(host_.tensors(), options.model)),
      // No loss scale is used here, but a training that resumes from this state
      // may use one.
      progress_{.scaler = LossScaler(options.loss_scale).state()} {}

template <typename T>
absl::StatusOr<std::unique_ptr<CudaGptTrainer<T>>> CudaGptTrainer<T>::Create(
    const GptTrainingOptions& options, std::shared_ptr<const Tokens> tokens,
    ProcessGroup& world, std::unique_ptr<cuda::Device> device,
    std::unique_ptr<ProcessGroup> gradients) {
  if (absl::Status wrong = CheckTraining(options, tokens, world); !wrong.ok()) {
    return wrong;
  }
  std::unique_ptr<CudaGptTrainer> trainer(
      new CudaGptTrainer(options, std::move(tokens), world, std::move(device),
                         std::move(gradients)));
  if (absl::Status status = trainer->Prepare(); !status.ok()) return status;
  return trainer;
}

template <typename T>
absl::Status CudaGptTrainer<T>::Prepare() {
  absl::Status status = FirstWeights(options_, world_, &host_);
  if (!status.ok()) return status;
  auto weights = cuda::CudaGptWeights<T>::Create(*device_, host_);
  if (!weights.ok()) return weights.status();
  weights_ = *std::move(weights);
  if (group_ != nullptr) MakeAverage();
  if (status = MakeOptimizer(); !status.ok()) return status;
  using Stage = cuda::CudaGptStage<T>;
  auto stage =
      Stage::Create(*device_, *weights_, options_.batch, options_.model.context,
                    options_.checkpointing == GptStage::Checkpointing::kBlocks
                        ? Stage::Checkpointing::kBlocks
                        : Stage::Checkpointing::kNone);
  if (!stage.ok()) return stage.status();
  stage_ = *std::move(stage);
  auto micro_batch = stage_->NewMicroBatch();
  if (!micro_batch.ok()) return micro_batch.status();
  micro_batch_ = *std::move(micro_batch);
  gradient_ = arrays_.Add<T>(stage_->stream_count());
  losses_ = arrays_.Add<double>(micro_batches_of_rank());
  if (!arrays_.status().ok()) return arrays_.status();
  if (!options_.timeline.empty()) {
    timeline_ = std::make_unique<cuda::CudaStepTimeline>(*device_);
    if (average_ != nullptr) average_->NoteIn(timeline_.get());
  }
  return device_->status();
}

template <typename T>
void CudaGptTrainer<T>::MakeAverage() {
  using Averages = cuda::CudaGradientAverage::Averages;
  average_ = std::make_unique<cuda::CudaGradientAverage>(
      *device_, *group_, weights_->gradients(), weights_->offsets(),
      weights_->count(), cuda::CudaGradientAverage::Limits{},
      options_.sharding == GptTrainingOptions::Sharding::kZero1
          ? Averages::kOwnShare
          : Averages::kAll);
}

template <typename T>
absl::Status CudaGptTrainer<T>::MakeOptimizer() {
  using Optimizer = cuda::CudaGptOptimizer<T>;
  auto optimizer = is_sharded() ? Optimizer::Create(*device_, *weights_, host_,
                                                    average_->averaged())
                                : Optimizer::Create(*device_, *weights_, host_);
  if (!optimizer.ok()) return optimizer.status();
  optimizer_ = *std::move(optimizer);
  return absl::OkStatus();
}

template <typename T>
void CudaGptTrainer<T>::Fill(GptMicroBatch* from) {
  micro_batch_->tokens = std::move(from->tokens);
  micro_batch_->targets = std::move(from->targets);
}

template <typename T>
absl::Status CudaGptTrainer<T>::Pass(int64_t step, int64_t index) {
  const int64_t mine = micro_batches_of_rank();
  absl::StatusOr<GptMicroBatch> drawn =
      batches_.Training(step, world_.rank() * mine + index);
  if (!drawn.ok()) return drawn.status();
  Fill(&*drawn);
  {
    const NotedSpan forward(timeline_.get(), SpanKind::kForward, index);
    stage_->Forward(micro_batch_.get(), nullptr);
    // The ranks' average does the rest of the division.
    stage_->Loss(micro_batch_.get(), 1.0f / static_cast<float>(mine));
    stage_->CopyLoss(*micro_batch_, losses_ + index);
  }
  const bool last = index + 1 == mine && average_ != nullptr;
  if (last) average_->Begin();
  const NotedSpan backward(timeline_.get(), SpanKind::kBackward, index);
  stage_->Backward(micro_batch_.get(), gradient_, [&](int tensor) {
    if (last) average_->MarkReady(tensor);
    if (timeline_ != nullptr) {
      timeline_->MadeGradientOf(parts_[static_cast<size_t>(tensor)]);
    }
  });
  return absl::OkStatus();
}

template <typename T>
absl::StatusOr<GptStep> CudaGptTrainer<T>::Step(int64_t step) {
  if (timeline_ != nullptr) timeline_->BeginStep(step);
  weights_->ZeroGradients();
  const int64_t mine = micro_batches_of_rank();
  for (int64_t i = 0; i < mine; ++i) {
    if (absl::Status status = Pass(step, i); !status.ok()) return status;
  }
  if (average_ != nullptr) {
    if (absl::Status status = average_->Finish(); !status.ok()) return status;
  }
  const double learning_rate = options_.learning_rate.At(step);
  const absl::StatusOr<double> norm = Update(step, learning_rate);
  if (!norm.ok()) return norm.status();
  std::vector<double> losses(static_cast<size_t>(options_.micro_batches));
  device_->CopyOut(losses.data() + world_.rank() * mine, losses_,
                   mine * static_cast<int64_t>(sizeof(double)));
  if (timeline_ != nullptr) {
    spans_.push_back(timeline_->EndStep());
    if (static_cast<int64_t>(spans_.size()) > options_.timeline_steps) {
      spans_.pop_front();
    }
  }
  if (absl::Status status = device_->status(); !status.ok()) return status;
  if (is_sharded()) {
    // The next step and the checkpoint use the gathered weights.
    if (absl::Status status = average_->Confirm(); !status.ok()) return status;
  }
  const absl::StatusOr<double> mean = MeanLoss(world_, std::move(losses));
  if (!mean.ok()) return mean.status();
  return GptStep{
      .loss = *mean, .learning_rate = learning_rate, .gradient_norm = *norm};
}

template <typename T>
absl::StatusOr<double> CudaGptTrainer<T>::Update(int64_t step,
                                                 double learning_rate) {
  const NotedSpan update(timeline_.get(), SpanKind::kUpdate);
  const absl::StatusOr<double> sum = GradientSquareSum();
  if (!sum.ok()) return sum.status();
  const StepPlan plan = PlanStep(*sum, options_.clip, nullptr);
  if (plan.verdict == LossScaler::Verdict::kSkip) {
    return GradientIsNoNumber(step);
  }
  optimizer_->Step(options_.adamw, {.step = ++progress_.updates,
                                    .learning_rate = learning_rate,
                                    .gradient_factor = plan.gradient_factor});
  if (absl::Status status = Gather(); !status.ok()) return status;
  return plan.norm;
}

template <typename T>
absl::StatusOr<double> CudaGptTrainer<T>::GradientSquareSum() {
  double sum = optimizer_->GradientSquareSum();
  // Checked first, because a failed device's numbers are not the gradient's.
  if (absl::Status status = device_->status(); !status.ok()) return status;
  if (average_ != nullptr) {
    if (absl::Status status = average_->Confirm(); !status.ok()) return status;
  }
  if (is_sharded()) {
    absl::Status status = world_.Run(AllReduce(&sum, &sum, 1, DType::kFloat64));
    if (!status.ok()) return status;
  }
  return sum;
}

template <typename T>
absl::Status CudaGptTrainer<T>::Gather() {
  if (!is_sharded()) return absl::OkStatus();
  return cuda::GatherShares(*device_, *group_, average_->buckets(),
                            weights_->values());
}

template <typename T>
absl::StatusOr<double> CudaGptTrainer<T>::Validate() {
  std::vector<double> losses(static_cast<size_t>(options_.validation_batches));
  for (int64_t i = world_.rank(); i < options_.validation_batches;
       i += world_.size()) {
    absl::StatusOr<GptMicroBatch> drawn = batches_.Validation(i);
    if (!drawn.ok()) return drawn.status();
    Fill(&*drawn);
    stage_->Forward(micro_batch_.get(), nullptr);
    stage_->LossOnly(micro_batch_.get());
    losses[static_cast<size_t>(i)] = stage_->ReadLoss(*micro_batch_);
  }
  if (absl::Status status = device_->status(); !status.ok()) return status;
  return MeanLoss(world_, std::move(losses));
}

template <typename T>
absl::StatusOr<GptWeights*> CudaGptTrainer<T>::Weights() {
  weights_->CopyTo(&host_);
  if (absl::Status status = device_->status(); !status.ok()) return status;
  return &host_;
}

template <typename T>
absl::StatusOr<std::vector<CheckpointSlice>> CudaGptTrainer<T>::State() {
  if (const auto weights = Weights(); !weights.ok()) return weights.status();
  const auto count = static_cast<size_t>(optimizer_->count());
  means_.resize(count);
  squares_.resize(count);
  optimizer_->CopyOut(Kept::kMean, means_.data());
  optimizer_->CopyOut(Kept::kSquare, squares_.data());
  if constexpr (!std::is_same_v<T, float>) {
    masters_.resize(count);
    optimizer_->CopyOut(Kept::kTrained, masters_.data());
  }
  if (absl::Status status = device_->status(); !status.ok()) return status;
  const std::vector<std::string> names = AdamWRule(options_.adamw)->states();
  std::vector<CheckpointSlice> slices;
  int64_t at = 0;
  for (const cuda::TensorPiece& piece : optimizer_->pieces()) {
    const GptTensor& tensor =
        host_.tensors()[static_cast<size_t>(piece.tensor)];
    const auto add = [&](const std::string& prefix, float* data) {
      slices.push_back(
          {.tensor = {.name = prefix + tensor.name, .shape = tensor.shape},
           .begin = piece.range.begin,
           .end = piece.range.end,
           .data = data});
    };
    add(names[0] + "/", means_.data() + at);
    add(names[1] + "/", squares_.data() + at);
    if (!masters_.empty()) add("master/", masters_.data() + at);
    at += piece.range.count();
  }
  for (int i = 0; i < static_cast<int>(host_.tensors().size()); ++i) {
    slices.push_back(WholeTensor(host_.tensor(i)));
  }
  return slices;
}

template <typename T>
absl::Status CudaGptTrainer<T>::Restore(const GptProgress& progress) {
  progress_ = progress;
  if constexpr (std::is_same_v<T, float>) {
    std::vector<float> trained;
    trained.reserve(means_.size());
    for (const cuda::TensorPiece& piece : optimizer_->pieces()) {
      const float* const tensor = host_.value(piece.tensor);
      trained.insert(trained.end(), tensor + piece.range.begin,
                     tensor + piece.range.end);
    }
    optimizer_->CopyIn(Kept::kTrained, trained.data());
  } else {
    optimizer_->CopyIn(Kept::kTrained, masters_.data());
  }
  optimizer_->CopyIn(Kept::kMean, means_.data());
  optimizer_->CopyIn(Kept::kSquare, squares_.data());
  optimizer_->Round();
  absl::Status status = Gather();
  device_->Wait();
  if (status.ok()) status = device_->status();
  if (status.ok() && is_sharded()) status = average_->Confirm();
  return status;
}

template <typename T>
absl::StatusOr<double> CudaGptTrainer<T>::MeasurePeak() {
  // At the same time, because ranks that share a GPU share its speed.
  absl::Status status = world_.Run(Barrier());
  if (!status.ok()) return status;
  const absl::StatusOr<double> own = cuda::MeasureDeviceMatrixRate(
      *device_, cuda::kElementType<T>, kMatrixSize);
  if (!own.ok()) return own.status();
  double all = *own;
  status = world_.Run(AllReduce(&all, &all, 1, DType::kFloat64));
  if (!status.ok()) return status;
  return all;
}

template <typename T>
absl::StatusOr<Timeline> CudaGptTrainer<T>::GatherTimelines() {
  if (timeline_ == nullptr) {
    return absl::FailedPreconditionError("no timeline was recorded");
  }
  std::vector<TimelineSpan> spans;
  for (const std::vector<TimelineSpan>& step : spans_) {
    spans.insert(spans.end(), step.begin(), step.end());
  }
  auto ranks = GatherTimeline(world_, std::move(spans));
  if (!ranks.ok()) return ranks.status();
  return Timeline{*std::move(ranks), GptPartNames(options_.model)};
}

template class CudaGptTrainer<float>;
template class CudaGptTrainer<cuda::Bfloat16>;

}  // namespace muster
