#include "models/trainer/cuda_gpt_trainer.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/testing/rounding.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/cuda/testing/emulated_device.h"
#include "models/trainer/gpt_checkpoint.h"
#include "models/trainer/host_gpt_trainer.h"
#include "models/trainer/testing/small_training.h"
#include "trainer_sdk/process_group/testing/group_fixture.h"

namespace muster::models {
namespace {

using Device = GptTrainingOptions::Device;

// Options for a model that is smaller than SmallTraining's, because the kernels
// are emulated.
GptTrainingOptions OnCpu() {
  GptTrainingOptions options = SmallTraining();
  options.model.layers = 1;
  options.micro_batches = 2;
  return options;
}

GptTrainingOptions OnGpu(DType precision = DType::kFloat32) {
  GptTrainingOptions options = OnCpu();
  options.device = Device::kCuda;
  options.precision = precision;
  return options;
}

using NewTrainer = absl::StatusOr<std::unique_ptr<GptTrainer>>;

template <typename T>
NewTrainer Emulated(const GptTrainingOptions& options, ProcessGroup& world) {
  std::unique_ptr<ProcessGroup> gradients;
  if (world.size() > 1) {
    auto group = world.Split(0, world.rank(), "gradients");
    if (!group.ok()) return group.status();
    gradients = *std::move(group);
  }
  return CudaGptTrainer<T>::Create(options, LearnableText(), world,
                                   std::make_unique<cuda::EmulatedDevice>(),
                                   std::move(gradients));
}

NewTrainer Create(const GptTrainingOptions& options, ProcessGroup& world) {
  if (options.device == Device::kCpu) {
    return HostGptTrainer::Create(options, LearnableText(), world);
  }
  return options.precision == DType::kBFloat16
             ? Emulated<cuda::Bfloat16>(options, world)
             : Emulated<float>(options, world);
}

struct TrainingResult {
  std::vector<double> losses;
  std::vector<double> norms;
  double validation = 0;
  std::vector<float> weights;
};

// Trains `steps` steps and returns each rank's results. Calls `disturb`, unless
// it is null, on the state after each step.
std::vector<TrainingResult> Train(const GptTrainingOptions& options, int world,
                                  int64_t steps,
                                  Disturbance* disturb = nullptr) {
  std::vector<TrainingResult> results(static_cast<size_t>(world));
  const auto statuses = RunWorld(
      world,
      [&](ProcessGroup& group) -> absl::Status {
        TrainingResult& result = results[static_cast<size_t>(group.rank())];
        const auto trainer = Create(options, group);
        if (!trainer.ok()) return trainer.status();
        for (int64_t step = 0; step < steps; ++step) {
          const auto done = (*trainer)->Step(step);
          if (!done.ok()) return done.status();
          result.losses.push_back(done->loss);
          result.norms.push_back(done->gradient_norm);
          if (disturb == nullptr) continue;
          const absl::Status disturbed = DisturbState(**trainer, *disturb);
          if (!disturbed.ok()) return disturbed;
        }
        const auto validation = (*trainer)->Validate();
        if (!validation.ok()) return validation.status();
        result.validation = *validation;
        const auto weights = (*trainer)->Weights();
        if (!weights.ok()) return weights.status();
        result.weights.assign((*weights)->data(),
                              (*weights)->data() + (*weights)->count());
        return absl::OkStatus();
      },
      SharedMemory());
  EXPECT_TRUE(FirstFailure(statuses).ok()) << FirstFailure(statuses);
  return results;
}

absl::Status StatusOf(const GptTrainingOptions& options) {
  return FirstFailure(RunWorld(1, [&](ProcessGroup& group) -> absl::Status {
    const auto trainer = Create(options, group);
    return trainer.ok() ? (*trainer)->Step(0).status() : trainer.status();
  }));
}

// Returns the results as lists for comparisons: the losses, the norms, the
// validation, and the weights by tensor. The attention's key bias is left out:
// it changes no probability, so its gradient consists of rounding errors.
std::vector<std::vector<double>> NumbersOf(const TrainingResult& result) {
  std::vector<std::vector<double>> lists = {
      result.losses, result.norms, {result.validation}};
  const GptConfig model = OnCpu().model;
  const GptWeights layout(model, {0, model.layers});
  const float* weight = result.weights.data();
  for (const GptTensor& tensor : layout.tensors()) {
    std::vector<double>& list = lists.emplace_back();
    for (int64_t i = 0; i < tensor.count(); ++i, ++weight) {
      const bool is_key_bias =
          tensor.name.ends_with("attn.c_attn.bias") && i / model.width == 1;
      if (!is_key_bias) list.push_back(*weight);
    }
  }
  return lists;
}

// Trains on the CPU with one rank. The result is the reference for trainings on
// the emulated GPU.
RoundingReference OfTheHost(const GptTrainingOptions& options, int64_t steps) {
  return RoundingReference([&](Disturbance disturb) {
    return NumbersOf(Train(options, 1, steps, &disturb)[0]);
  });
}

TEST(CudaGptTrainerTest, ResultIsThatOfTheHost) {
  const RoundingReference host = OfTheHost(OnCpu(), 6);
  const double operations = RoundingsOf(OnCpu());
  for (const int world : {1, 2}) {
    for (const TrainingResult& result : Train(OnGpu(), world, 6)) {
      EXPECT_EQ(host.WrongList<float>(operations, NumbersOf(result)), -1)
          << world << " ranks";
    }
  }
  GptTrainingOptions planted = OnGpu();
  planted.learning_rate.peak *= 1.001;
  EXPECT_NE(
      host.WrongList<float>(operations, NumbersOf(Train(planted, 1, 6)[0])), -1)
      << "planted";
}

TEST(CudaGptTrainerTest, AllRanksStayAlike) {
  for (const DType precision : {DType::kFloat32, DType::kBFloat16}) {
    const std::vector<TrainingResult> results = Train(OnGpu(precision), 2, 3);
    EXPECT_EQ(results[0].losses, results[1].losses) << Name(precision);
    EXPECT_EQ(results[0].weights, results[1].weights) << Name(precision);
  }
}

// Training with sharded optimizer state is bit-identical to training with
// replicated state. Gradient clipping does not change this, because the
// gradient's sum of squares is exact.
TEST(CudaGptTrainerTest, SharedStateIsDdpToTheLastBit) {
  for (const DType precision : {DType::kFloat32, DType::kBFloat16}) {
    GptTrainingOptions options = OnGpu(precision);
    options.clip = 0.1;
    options.micro_batches = 4;
    for (const int world : {2, 4}) {
      options.sharding = GptTrainingOptions::Sharding::kNone;
      const std::vector<TrainingResult> whole = Train(options, world, 2);
      options.sharding = GptTrainingOptions::Sharding::kZero1;
      const std::vector<TrainingResult> shared = Train(options, world, 2);
      for (size_t rank = 0; rank < shared.size(); ++rank) {
        SCOPED_TRACE(
            absl::StrCat(Name(precision), ", rank ", rank, " of ", world));
        EXPECT_EQ(shared[rank].losses, whole[rank].losses);
        EXPECT_EQ(shared[rank].weights, whole[rank].weights);
        EXPECT_EQ(shared[rank].validation, whole[rank].validation);
        EXPECT_EQ(shared[rank].norms, whole[rank].norms);
        EXPECT_GT(whole[rank].norms[0], options.clip);
      }
    }
  }
}

TEST(CudaGptTrainerTest, SharedStateIsClippedByTheWholeNorm) {
  GptTrainingOptions options = OnCpu();
  // AdamW's updates hardly depend on the size of the gradient, unless the
  // gradient is so small that AdamW's epsilon matters. So clip to a very low
  // norm. The weights then show how the gradient was clipped.
  options.clip = 1e-4;
  const RoundingReference host = OfTheHost(options, 4);
  EXPECT_GT(host.lists()[1][0], 0.1);
  const double operations = RoundingsOf(options);
  options.device = Device::kCuda;
  options.sharding = GptTrainingOptions::Sharding::kZero1;
  for (const TrainingResult& result : Train(options, 2, 4)) {
    EXPECT_EQ(host.WrongList<float>(operations, NumbersOf(result)), -1);
  }
  // Plant a defect, which the comparison must detect: twice the maximum norm. A
  // trainer that clips by the norm of one rank's share, instead of the whole
  // norm, has the same kind of error, to a smaller degree.
  options.clip *= 2;
  EXPECT_NE(
      host.WrongList<float>(operations, NumbersOf(Train(options, 2, 4)[0])), -1)
      << "planted";
}

TEST(CudaGptTrainerTest, LearnsInBfloat16) {
  GptTrainingOptions options = OnGpu(DType::kBFloat16);
  options.micro_batches = 1;
  const TrainingResult result = Train(options, 1, 30)[0];
  EXPECT_GT(result.losses.front(), 2.2);
  EXPECT_LT(result.losses.back(), 1.2);
}

TEST(CudaGptTrainerTest, RecomputingChangesNoBit) {
  GptTrainingOptions options = OnGpu(DType::kBFloat16);
  const TrainingResult kept = Train(options, 1, 4)[0];
  options.checkpointing = GptStage::Checkpointing::kBlocks;
  EXPECT_EQ(Train(options, 1, 4)[0].losses, kept.losses);
}

TEST(CudaGptTrainerTest, CpuOnlyOptionsAreRefused) {
  EXPECT_EQ(StatusOf(OnGpu()), absl::OkStatus());
  EXPECT_EQ(StatusOf(OnGpu(DType::kFloat16)).code(),
            absl::StatusCode::kInvalidArgument);
  GptTrainingOptions in_pairs = OnGpu();
  in_pairs.order = GptTrainingOptions::GradientOrder::kPairwise;
  EXPECT_EQ(StatusOf(in_pairs).code(), absl::StatusCode::kInvalidArgument);
}

TEST(CudaGptTrainerTest, AGradientThatIsNoNumberEndsIt) {
  GptTrainingOptions options = OnGpu();
  options.learning_rate = {.peak = 1e38, .decay_until = 100};
  const auto statuses = RunWorld(1, [&](ProcessGroup& group) -> absl::Status {
    const auto trainer = Create(options, group);
    absl::Status status = trainer.status();
    for (int64_t step = 0; step < 4 && status.ok(); ++step) {
      status = (*trainer)->Step(step).status();
    }
    return status;
  });
  EXPECT_EQ(statuses[0].code(), absl::StatusCode::kOutOfRange) << statuses[0];
}

// A device that aborts `group` while the host waits for the device. The work on
// the device's streams then ends, as it does if NCCL aborts a communicator.
class DeviceOfABrokenGroup final : public cuda::EmulatedDevice {
 public:
  explicit DeviceOfABrokenGroup(ProcessGroup& group) : group_(group) {}

  // Aborts the group when the host waits for the device for the `waits`-th time
  // after this call.
  void BreakIn(int waits) { waits_ = waits; }

  void CopyOut(void* to, const void* from, int64_t bytes) override {
    Count();
    EmulatedDevice::CopyOut(to, from, bytes);
  }
  void Wait() override {
    Count();
    EmulatedDevice::Wait();
  }

 private:
  void Count() {
    if (waits_ > 0 && --waits_ == 0) group_.Abort("a peer died");
  }

  ProcessGroup& group_;
  int waits_ = 0;
};

// Runs `act`, such as a training step, on two ranks. On each rank, the process
// group for gradients is aborted when the host waits for its device for the
// `waits`-th time in `act`. Returns the ranks' statuses.
std::vector<absl::Status> WhileTheGroupBreaks(
    int waits, const GptTrainingOptions& options,
    const std::function<absl::Status(GptTrainer&)>& act) {
  return RunWorld(
      2,
      [&](ProcessGroup& world) -> absl::Status {
        auto gradients = world.Split(0, world.rank(), "gradients");
        if (!gradients.ok()) return gradients.status();
        auto device = std::make_unique<DeviceOfABrokenGroup>(**gradients);
        DeviceOfABrokenGroup& its_device = *device;
        const auto trainer = CudaGptTrainer<float>::Create(
            options, LearnableText(), world, std::move(device),
            *std::move(gradients));
        if (!trainer.ok()) return trainer.status();
        if (const auto state = (*trainer)->State(); !state.ok()) {
          return state.status();
        }
        its_device.BreakIn(waits);
        return act(**trainer);
      },
      SharedMemory());
}

void ExpectItIsTold(const std::vector<absl::Status>& statuses) {
  for (const absl::Status& status : statuses) {
    EXPECT_EQ(status.code(), absl::StatusCode::kAborted) << status;
    EXPECT_THAT(std::string(status.message()), testing::HasSubstr("gradients"));
  }
}

absl::Status FirstStep(GptTrainer& trainer) { return trainer.Step(0).status(); }

TEST(CudaGptTrainerTest, NoStepIsMadeOfGradientsThatWereNotAveraged) {
  ExpectItIsTold(WhileTheGroupBreaks(1, OnGpu(), FirstStep));
}

// In a step the host waits six times for the device. Four waits belong to the
// gradient's sum of squares: one for the sum on this rank, one for the sum on
// all ranks, and two to confirm that the group was intact (ConfirmIntact). The
// others are for the losses and for the gathered weights. The step must fail if
// the group breaks in any of these waits.
TEST(CudaGptTrainerTest, NoStepEndsWithWeightsThatWereNotGathered) {
  GptTrainingOptions options = OnGpu();
  options.sharding = GptTrainingOptions::Sharding::kZero1;
  for (int waits = 1; waits <= 6; ++waits) {
    SCOPED_TRACE(waits);
    ExpectItIsTold(WhileTheGroupBreaks(waits, options, FirstStep));
  }
  ExpectItIsTold(WhileTheGroupBreaks(1, options, [](GptTrainer& trainer) {
    return trainer.Restore(trainer.progress());
  }));
}

TEST(CudaGptTrainerTest, ARankKeepsItsShareOfTheStateOnly) {
  constexpr int kRanks = 3;
  for (const DType precision : {DType::kFloat32, DType::kBFloat16}) {
    GptTrainingOptions options = OnGpu(precision);
    options.micro_batches = kRanks;
    options.sharding = GptTrainingOptions::Sharding::kZero1;
    std::mutex mutex;
    int64_t weights = 0;
    // Key: a kind of optimizer state; value: its number of elements on each
    // rank.
    std::map<std::string, std::vector<int64_t>> kept;
    const auto statuses = RunWorld(
        kRanks,
        [&](ProcessGroup& group) -> absl::Status {
          const auto trainer = Create(options, group);
          if (!trainer.ok()) return trainer.status();
          const auto state = (*trainer)->State();
          if (!state.ok()) return state.status();
          const auto values = (*trainer)->Weights();
          if (!values.ok()) return values.status();
          const std::lock_guard<std::mutex> lock(mutex);
          weights = (*values)->count();
          for (const CheckpointSlice& slice : *state) {
            const size_t slash = slice.tensor.name.find('/');
            if (slash == std::string::npos) continue;
            auto& counts = kept[slice.tensor.name.substr(0, slash)];
            counts.resize(kRanks);
            counts[static_cast<size_t>(group.rank())] +=
                slice.end - slice.begin;
          }
          return absl::OkStatus();
        },
        SharedMemory());
    ASSERT_TRUE(FirstFailure(statuses).ok()) << FirstFailure(statuses);
    EXPECT_EQ(kept.size(), precision == DType::kFloat32 ? 2u : 3u);
    for (const auto& [name, counts] : kept) {
      EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), int64_t{0}),
                weights)
          << name;
      EXPECT_THAT(counts, testing::Each(testing::Lt(weights / 2))) << name;
    }
  }
}

TEST(CudaGptTrainerTest, FullMemoryIsResourceExhausted) {
  const auto statuses = RunWorld(1, [&](ProcessGroup& group) {
    return CudaGptTrainer<float>::Create(
               OnGpu(), LearnableText(), group,
               std::make_unique<cuda::EmulatedDevice>(100000), nullptr)
        .status();
  });
  EXPECT_EQ(statuses[0].code(), absl::StatusCode::kResourceExhausted);
}

TEST(CudaGptTrainerTest, ATimelineHasTheLastStepsOfAllRanks) {
  GptTrainingOptions options = OnGpu();
  options.timeline = "any";
  options.timeline_steps = 2;
  options.micro_batches = 4;
  Timeline found;
  const auto statuses = RunWorld(
      2,
      [&](ProcessGroup& group) -> absl::Status {
        const auto trainer = Create(options, group);
        if (!trainer.ok()) return trainer.status();
        for (int64_t step = 0; step < 5; ++step) {
          const auto done = (*trainer)->Step(step);
          if (!done.ok()) return done.status();
        }
        auto timeline = (*trainer)->GatherTimelines();
        if (!timeline.ok()) return timeline.status();
        if (group.rank() == 0) found = *std::move(timeline);
        return absl::OkStatus();
      },
      SharedMemory());
  EXPECT_TRUE(FirstFailure(statuses).ok()) << FirstFailure(statuses);
  ASSERT_EQ(found.ranks.size(), 2u);
  for (const std::vector<TimelineSpan>& spans : found.ranks) {
    std::map<int64_t, std::map<SpanKind, int>> counts;
    for (const TimelineSpan& span : spans) ++counts[span.step][span.kind];
    ASSERT_EQ(counts.size(), 2u);
    for (const int64_t step : {3, 4}) {
      EXPECT_EQ(counts[step][SpanKind::kStep], 1);
      // A rank runs two micro-batches per step, and their gradients are reduced
      // once.
      EXPECT_EQ(counts[step][SpanKind::kForward], 2);
      EXPECT_EQ(counts[step][SpanKind::kBackward], 2);
      EXPECT_EQ(counts[step][SpanKind::kReduce], 1);
      EXPECT_EQ(counts[step][SpanKind::kWait], 1);
      EXPECT_EQ(counts[step][SpanKind::kUpdate], 1);
    }
  }
}

class CudaGptCheckpointTest : public testing::Test {
 protected:
  CudaGptCheckpointTest() {
    std::string pattern = testing::TempDir() + "/gptXXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~CudaGptCheckpointTest() override { std::filesystem::remove_all(folder_); }

  // Resumes from the newest checkpoint in the folder `name`, trains to step
  // `last` and saves a checkpoint there. Returns the losses.
  std::vector<double> TrainTo(int64_t last, GptTrainingOptions options,
                              int world, const std::string& name) {
    options.checkpoint_directory = folder_ + "/" + name;
    ResumedTraining result;
    const auto statuses = RunWorld(
        world,
        [&](ProcessGroup& group) -> absl::Status {
          const auto trainer = Create(options, group);
          if (!trainer.ok()) return trainer.status();
          return GoOnTo(last, options, **trainer, group, &result);
        },
        SharedMemory());
    EXPECT_TRUE(FirstFailure(statuses).ok()) << FirstFailure(statuses);
    told_ = result.other_options;
    return result.losses;
  }

  std::string folder_;
  // The options in which the last TrainTo differed from the saved training, as
  // reported by GptCheckpoints; empty: none.
  std::string told_;
};

TEST_F(CudaGptCheckpointTest, GoesOnAsIfNothingHadHappened) {
  using Sharding = GptTrainingOptions::Sharding;
  for (const DType precision : {DType::kFloat32, DType::kBFloat16}) {
    for (const Sharding sharding : {Sharding::kNone, Sharding::kZero1}) {
      GptTrainingOptions options = OnGpu(precision);
      options.sharding = sharding;
      const std::string name = absl::StrCat(
          Name(precision), sharding == Sharding::kZero1 ? "-shared" : "");
      const std::vector<double> undisturbed =
          TrainTo(6, options, 2, name + "-undisturbed");
      std::vector<double> losses = TrainTo(3, options, 2, name);
      for (const double loss : TrainTo(6, options, 2, name)) {
        losses.push_back(loss);
      }
      EXPECT_EQ(losses, undisturbed) << name;
    }
  }
}

TEST_F(CudaGptCheckpointTest, SharedStateGoesOnOnAnyNumberOfRanks) {
  GptTrainingOptions on_host = OnCpu();
  on_host.micro_batches = 4;
  on_host.clip = 0;
  // The factor by which rounding errors in the state grow until they reach the
  // losses.
  const double condition = OfTheHost(on_host, 7).conditions()[0];
  for (const DType precision : {DType::kFloat32, DType::kBFloat16}) {
    GptTrainingOptions options = OnGpu(precision);
    options.micro_batches = 4;
    options.clip = 0;
    const std::string name = Name(precision);
    // Factor 2: both compared trainings have rounding errors. With bfloat16 a
    // training rounds four kinds of values: the weights, the outputs of
    // normalizations, the outputs of matrix products, and the sums with the
    // residual stream.
    const double growth = 2 * (precision == DType::kFloat32
                                   ? RoundingGrowth<float>(RoundingsOf(options))
                                   : RoundingGrowth(4, kBfloat16Roundoff));
    const std::vector<double> undisturbed =
        TrainTo(7, options, 2, name + "-undisturbed");
    options.sharding = GptTrainingOptions::Sharding::kZero1;
    std::vector<double> losses;
    const auto go_on = [&](int64_t last, int world) {
      for (const double loss : TrainTo(last, options, world, name)) {
        losses.push_back(loss);
      }
    };
    go_on(2, 4);
    go_on(3, 1);
    go_on(5, 2);
    options.sharding = GptTrainingOptions::Sharding::kNone;
    go_on(6, 2);
    // The last step runs on the CPU, with sharded state.
    options.sharding = GptTrainingOptions::Sharding::kZero1;
    options.device = Device::kCpu;
    go_on(7, 2);
    EXPECT_LE(Distance(losses, undisturbed), growth * condition) << name;
    // The comparison must detect wrong losses: multiply them by 1.001 in
    // float32, and by 1.1 in bfloat16, which has larger rounding errors.
    for (double& loss : losses) {
      loss *= precision == DType::kFloat32 ? 1.001 : 1.1;
    }
    EXPECT_GT(Distance(losses, undisturbed), growth * condition) << "planted";
  }
}

TEST_F(CudaGptCheckpointTest, CpusAndGpusGoOnFromEachOther) {
  const std::vector<double> host = TrainTo(9, OnCpu(), 2, "undisturbed");
  std::vector<double> losses = TrainTo(3, OnCpu(), 2, "mixed");
  for (const double loss : TrainTo(6, OnGpu(), 2, "mixed")) {
    losses.push_back(loss);
  }
  EXPECT_EQ(told_, "device cuda, was cpu");
  for (const double loss : TrainTo(9, OnCpu(), 1, "mixed")) {
    losses.push_back(loss);
  }
  EXPECT_EQ(told_, "device cpu, was cuda");
  const double bound = RoundingBound<float>(
      RoundingsOf(OnCpu()), OfTheHost(OnCpu(), 9).conditions()[0]);
  EXPECT_LE(Distance(losses, host), bound);
  for (double& loss : losses) loss *= 1.001;
  EXPECT_GT(Distance(losses, host), bound) << "planted";
}

// A bfloat16 checkpoint contains the float32 master weights, from which a
// training on CPUs can resume, and the rounded weights, which programs that do
// not train read.
TEST_F(CudaGptCheckpointTest, MasterWeightsAreInIt) {
  GptTrainingOptions host = OnGpu(DType::kBFloat16);
  host.device = Device::kCpu;
  TrainTo(4, OnGpu(DType::kBFloat16), 1, "mixed");
  const auto trained = OpenTrainedGpt(folder_ + "/mixed");
  ASSERT_TRUE(trained.ok()) << trained.status();
  for (int64_t i = 0; i < trained->weights->count(); ++i) {
    uint32_t bits = 0;
    std::memcpy(&bits, trained->weights->data() + i, sizeof(bits));
    ASSERT_EQ(bits & 0xffff, 0u) << "element " << i << " is no bfloat16";
  }
  const std::vector<double> on = TrainTo(40, host, 1, "mixed");
  EXPECT_EQ(told_, "device cpu, was cuda");
  EXPECT_LT(on.back(), 0.5);
}

}  // namespace
}  // namespace muster::models
