#include "models/trainer/cuda_gpt_trainer.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

#include "models/cuda/device_matrix_rate.h"
#include "models/gpt/gpt_config.h"
#include "models/trainer/gpt_trainer.h"
#include "trainer_sdk/optim/replicated_optimizer.h"
#include "trainer_sdk/optim/step_plan.h"
#include "trainer_sdk/optim/update_rule.h"
#include "trainer_sdk/process_group/operations.h"
#include "trainer_sdk/timeline/timeline_recorder.h"
#include "trainer_sdk/zero/scatter_hook.h"
#include "trainer_sdk/zero/sharded_optimizer.h"

namespace muster::models {
namespace {

// The number of rows of the matrices with which the GPU's peak FLOP/s is
// measured. The matrices are large enough to reach the peak.
constexpr int64_t kMatrixSize = 8192;

// Records a timeline span for the work that is enqueued while this object
// lives. Records nothing if the timeline is null.
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
      // A training on a GPU uses no loss scale. But its checkpoints contain
      // one, because they have the same form as those of a training on CPUs.
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
  if (!options_.timeline.empty()) {
    timeline_ = std::make_shared<cuda::CudaStepTimeline>(*device_);
  }
  status = MakeReducer();
  if (status.ok()) status = MakeOptimizer();
  if (!status.ok()) return status;
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
  return device_->status();
}

template <typename T>
absl::Status CudaGptTrainer<T>::MakeReducer() {
  DdpOptions options{.device = device_.get(),
                     .place = GradientPlace::kInPlace,
                     .order = BucketOrder::kReverse,
                     .observer = timeline_};
  if (is_sharded()) options = ForSharding(options);
  // With one rank, group_ is null, because there is nothing to average. Create
  // needs a group nevertheless, so it gets `world_`, which the reducer then
  // does not use.
  auto reducer = Reducer::Create(group_ == nullptr ? world_ : *group_,
                                 weights_->DeviceTensors(), options);
  if (!reducer.ok()) return reducer.status();
  reducer_ = *std::move(reducer);
  return absl::OkStatus();
}

template <typename T>
absl::Status CudaGptTrainer<T>::MakeOptimizer() {
  const auto rule = AdamWRule(options_.adamw);
  std::vector<Tensor> tensors = weights_->DeviceTensors();
  if (is_sharded()) {
    auto sharded =
        ShardedOptimizer::Create(*group_, *reducer_, rule, std::move(tensors));
    if (!sharded.ok()) return sharded.status();
    optimizer_ = *std::move(sharded);
  } else {
    auto whole = std::make_unique<ReplicatedOptimizer>(
        rule, std::move(tensors),
        [this](int tensor) { return reducer_->average(tensor); }, *device_);
    if (!whole->status().ok()) return whole->status();
    optimizer_ = std::move(whole);
  }
  if constexpr (std::is_same_v<T, float>) return absl::OkStatus();
  // The master weights are copied from the host's initial weights, because the
  // weights on the device have already been rounded to T.
  const std::string master = "master/";
  for (const CheckpointSlice& slice : optimizer_->State()) {
    if (!slice.tensor.name.starts_with(master)) continue;
    const float* const from =
        host_.Find(slice.tensor.name.substr(master.size())).value;
    std::copy(from + slice.begin, from + slice.end,
              static_cast<float*>(slice.data));
  }
  return optimizer_->OnStateLoaded();
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
    // The factor of the loss divides by the number of this rank's
    // micro-batches; the reducer then divides by the number of ranks. Together
    // this gives the mean over all micro-batches.
    stage_->Loss(micro_batch_.get(), 1.0f / static_cast<float>(mine));
    stage_->CopyLoss(*micro_batch_, losses_ + index);
  }
  absl::Status status = reducer_->Begin(
      index + 1 < mine ? GradientSync::kAccumulate : GradientSync::kReduce);
  {
    const NotedSpan backward(timeline_.get(), SpanKind::kBackward, index);
    stage_->Backward(micro_batch_.get(), gradient_, [&](int tensor) {
      if (status.ok()) status = reducer_->MarkReady(tensor);
      if (timeline_ != nullptr) {
        timeline_->MadeGradientOf(parts_[static_cast<size_t>(tensor)]);
      }
    });
  }
  return status.ok() ? reducer_->Finish() : status;
}

template <typename T>
absl::StatusOr<GptStep> CudaGptTrainer<T>::Step(int64_t step) {
  if (timeline_ != nullptr) timeline_->BeginStep(step);
  weights_->ZeroGradients();
  const int64_t mine = micro_batches_of_rank();
  for (int64_t i = 0; i < mine; ++i) {
    if (absl::Status status = Pass(step, i); !status.ok()) return status;
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
    // Wait until the weights are gathered from all ranks, because the next step
    // and checkpoints use these weights. If the gathering failed, return its
    // error.
    if (absl::Status status = reducer_->Confirm(); !status.ok()) return status;
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
  const absl::StatusOr<double> sum = optimizer_->SumOfSquares();
  if (!sum.ok()) return sum.status();
  if (absl::Status status = reducer_->Confirm(); !status.ok()) return status;
  const StepPlan plan = PlanStep(*sum, options_.clip, nullptr);
  if (plan.verdict == LossScaler::Verdict::kSkip) {
    return GradientIsNoNumber(step);
  }
  absl::Status status =
      optimizer_->Step({.step = ++progress_.updates,
                        .learning_rate = learning_rate,
                        .gradient_factor = plan.gradient_factor});
  if (!status.ok()) return status;
  return plan.norm;
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
  std::vector<CheckpointSlice> slices = optimizer_->State();
  if (absl::Status status = device_->status(); !status.ok()) return status;
  for (int i = 0; i < static_cast<int>(host_.tensors().size()); ++i) {
    slices.push_back(WholeTensor(host_.tensor(i)));
  }
  return slices;
}

template <typename T>
absl::Status CudaGptTrainer<T>::Restore(const GptProgress& progress) {
  progress_ = progress;
  weights_->CopyFrom(host_);
  absl::Status status = optimizer_->OnStateLoaded();
  return status.ok() ? reducer_->Confirm() : status;
}

template <typename T>
absl::StatusOr<double> CudaGptTrainer<T>::MeasurePeak() {
  // All ranks measure at the same time, because ranks that share a GPU share
  // its FLOP/s.
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

}  // namespace muster::models
