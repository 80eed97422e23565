#include "models/gpt/gpt_pipeline.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/testing/rounding.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "trainer_sdk/optim/gradient_norm.h"
#include "trainer_sdk/pipeline/schedule/generators.h"
#include "trainer_sdk/process_group/testing/group_fixture.h"
#include "trainer_sdk/shared_memory/shared_memory_transport.h"
#include "trainer_sdk/transports/new_transport.h"

namespace muster::models {
namespace {

constexpr int64_t kBatch = 2;
constexpr int64_t kTime = 5;
constexpr GptConfig kConfig{
    .vocabulary = 19, .context = 8, .layers = 8, .heads = 2, .width = 8};
constexpr double kLearningRate = 0.25;
constexpr int kSteps = 2;

GptMicroBatch MicroBatch(int step, int index) {
  GptMicroBatch made;
  for (int i = 0; i < kBatch * kTime; ++i) {
    made.tokens.push_back((i * 7 + index * 3 + step) % 19);
    made.targets.push_back((i * 5 + index + step * 2) % 19);
  }
  return made;
}

using Values = std::map<std::string, std::vector<float>>;

void Append(const GptWeights& weights, Values* values) {
  const float* from = weights.data();
  for (const GptTensor& tensor : weights.tensors()) {
    (*values)[tensor.name].assign(from, from + tensor.count());
    from += tensor.count();
  }
}

// The results of a training.
struct TrainingResult {
  std::vector<GptPipelineStep> steps;
  // weights[i]: the weights after i steps.
  std::vector<Values> weights;
  double evaluation = 0;
};

// Changes each of the values by about one rounding error, at random.
void Disturb(float* values, int64_t count, Disturbance* disturb) {
  for (int64_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>((*disturb)(values[i]));
  }
}

// A defect planted in the sequential training, which the test must detect.
enum class Planted { kNone, kForgottenMicroBatch };

// Trains the whole model on one rank, micro-batch after micro-batch, with plain
// gradient descent. `disturb` changes the weights, the sum of the losses and
// the sums of the gradients by about one rounding error in each step.
TrainingResult Sequential(int micro_batches, double clip, Disturbance disturb,
                          Planted planted = Planted::kNone) {
  GptWeights weights(kConfig, {0, kConfig.layers});
  weights.Initialize(1);
  const GptStage model(weights, kBatch, kTime);
  TrainingResult result;
  result.weights.emplace_back();
  Append(weights, &result.weights.back());
  for (int step = 0; step < kSteps; ++step) {
    weights.ZeroGradients();
    GptPipelineStep done;
    for (int i = 0; i < micro_batches; ++i) {
      GptMicroBatch micro_batch = MicroBatch(step, i);
      std::vector<float> stream;
      model.Forward(&micro_batch, &stream);
      done.loss += model.Loss(&micro_batch, stream,
                              1.0f / static_cast<float>(micro_batches)) /
                   micro_batches;
      done.loss = disturb(done.loss);
      if (planted == Planted::kForgottenMicroBatch && i == 0) continue;
      model.Backward(&micro_batch, &stream, [](int) {});
      Disturb(weights.gradient(0), weights.count(), &disturb);
    }
    const double squares = SumOfSquares(weights.gradient(0), weights.count());
    done.gradient_norm = std::sqrt(squares);
    const double factor = clip > 0 ? ClipCoefficient(squares, clip) : 1;
    for (int64_t i = 0; i < weights.count(); ++i) {
      weights.data()[i] -=
          static_cast<float>(kLearningRate * factor) * weights.gradient(0)[i];
    }
    Disturb(weights.data(), weights.count(), &disturb);
    result.steps.push_back(done);
    result.weights.emplace_back();
    Append(weights, &result.weights.back());
  }
  for (int i = 0; i < micro_batches; ++i) {
    GptMicroBatch micro_batch = MicroBatch(kSteps, i);
    std::vector<float> stream;
    model.Forward(&micro_batch, &stream);
    result.evaluation += model.LossOnly(&micro_batch, stream) / micro_batches;
  }
  return result;
}

GptPipelineOptions Options(double clip) {
  GptPipelineOptions options;
  options.model = kConfig;
  options.batch = kBatch;
  options.time = kTime;
  options.seed = 1;
  options.rule = SgdRule({});
  options.clip = clip;
  return options;
}

TransportFactory SharedMemory() {
  return [](GroupPlace place, Instant deadline) {
    // To save memory, the buffers are smaller than the default: this test has
    // many groups, each with its own buffers.
    return NewSharedMemoryTransport(
        place, {.staging_bytes = 24 << 10, .channel_bytes = 4 << 10}, deadline);
  };
}

TrainingResult Pipelined(ScheduleKind kind, const PipelineShape& shape,
                         int data, const GptPipelineOptions& options,
                         const TransportFactory& factory = SharedMemory()) {
  TrainingResult result;
  result.weights.resize(kSteps + 1);
  std::vector<std::vector<float>> tables;
  std::mutex mutex;
  const auto statuses = RunWorld(
      shape.ranks * data,
      [&](ProcessGroup& world) -> absl::Status {
        int step = 0;
        int data_rank = 0;
        auto pipeline = GptPipeline::Create(
            world, *MakeSchedule(kind, shape), options,
            [&](int index, GptMicroBatch* filled) {
              *filled =
                  MicroBatch(step, data_rank * shape.micro_batches + index);
              return absl::OkStatus();
            });
        if (!pipeline.ok()) return pipeline.status();
        data_rank = (*pipeline)->data_rank();
        const auto record = [&](int after) {
          const std::lock_guard<std::mutex> lock(mutex);
          for (int chunk = 0; chunk < shape.stages_per_rank; ++chunk) {
            Append((*pipeline)->weights(chunk),
                   &result.weights[static_cast<size_t>(after)]);
          }
        };
        record(0);
        std::vector<GptPipelineStep> steps;
        for (step = 0; step < kSteps; ++step) {
          const auto done = (*pipeline)->Step(
              {.step = step + 1, .learning_rate = kLearningRate});
          if (!done.ok()) return done.status();
          steps.push_back(*done);
          record(step + 1);
        }
        const auto evaluation = (*pipeline)->Evaluate();
        if (!evaluation.ok()) return evaluation.status();
        const std::lock_guard<std::mutex> lock(mutex);
        for (int chunk = 0; chunk < shape.stages_per_rank; ++chunk) {
          Values own;
          Append((*pipeline)->weights(chunk), &own);
          if (own.contains("transformer.wte.weight")) {
            tables.push_back(own["transformer.wte.weight"]);
          }
        }
        result.steps = steps;
        result.evaluation = *evaluation;
        return absl::OkStatus();
      },
      factory);
  EXPECT_TRUE(FirstFailure(statuses).ok()) << FirstFailure(statuses);
  // In each data-parallel pipeline, two stages have the token table.
  EXPECT_EQ(tables.size(), static_cast<size_t>(2 * data));
  EXPECT_THAT(tables, testing::Each(testing::ContainerEq(tables[0])));
  return result;
}

// The numbers of a training, for comparisons: a list of its losses, a list of
// its gradient norms, and for each step a list of the changes of the weights,
// divided by the learning rate.
std::vector<std::vector<double>> NumbersOf(const TrainingResult& result) {
  std::vector<std::vector<double>> lists(2);
  for (const GptPipelineStep& step : result.steps) {
    lists[0].push_back(step.loss);
    lists[1].push_back(step.gradient_norm);
  }
  lists[0].push_back(result.evaluation);
  for (size_t step = 0; step + 1 < result.weights.size(); ++step) {
    std::vector<double>& gradient = lists.emplace_back();
    for (const auto& [name, before] : result.weights[step]) {
      const std::vector<float>& after = result.weights[step + 1].at(name);
      for (size_t i = 0; i < before.size(); ++i) {
        gradient.push_back((double{before[i]} - after[i]) / kLearningRate);
      }
    }
  }
  return lists;
}

// The whole model trained on one rank, as the reference. WrongList compares the
// lists of NumbersOf with the reference. It returns the index of the first list
// that differs by more than rounding errors; -1: none.
class SequentialTraining {
 public:
  SequentialTraining(int micro_batches, double clip)
      : result_(Sequential(micro_batches, clip, Disturbance())),
        reference_([&](Disturbance disturb) {
          return NumbersOf(Sequential(micro_batches, clip, disturb));
        }),
        // The number of roundings on which one result may depend: those of the
        // longest dot product, and those of the sum over the micro-batches.
        operations_(static_cast<double>(4 * kConfig.width + micro_batches)) {}

  const TrainingResult& result() const { return result_; }

  int WrongList(const TrainingResult& got) const {
    return reference_.WrongList<float>(operations_, NumbersOf(got));
  }

 private:
  TrainingResult result_;
  RoundingReference reference_;
  double operations_;
};

const SequentialTraining& SequentialOf(int micro_batches, double clip) {
  static auto& made = *new std::map<std::pair<int, double>, SequentialTraining>;
  return made.try_emplace({micro_batches, clip}, micro_batches, clip)
      .first->second;
}

void ExpectSameResult(const TrainingResult& got, int micro_batches,
                      double clip) {
  const SequentialTraining& sequential = SequentialOf(micro_batches, clip);
  ASSERT_EQ(got.steps.size(), sequential.result().steps.size());
  EXPECT_EQ(got.weights[0], sequential.result().weights[0]);
  EXPECT_EQ(sequential.WrongList(got), -1);
}

// Test parameters: the kind of schedule, ranks per pipeline, stages per rank,
// micro-batches, and number of pipelines.
class Grid : public testing::TestWithParam<
                 std::tuple<ScheduleKind, int, int, int, int>> {};

TEST_P(Grid, EqualsSequentialTraining) {
  const auto [kind, ranks, chunks, micro_batches, data] = GetParam();
  const PipelineShape shape{ranks, chunks, micro_batches};
  // A shape that this kind of schedule does not support is skipped. The tests
  // of MakeSchedule check which shapes are supported.
  if (!MakeSchedule(kind, shape).ok()) return;
  ExpectSameResult(Pipelined(kind, shape, data, Options(0)),
                   micro_batches * data, 0);
}

INSTANTIATE_TEST_SUITE_P(Small, Grid,
                         testing::Combine(testing::ValuesIn(kScheduleKinds),
                                          testing::Values(2, 3, 4),
                                          testing::Values(1, 2),
                                          testing::Values(2, 5, 8),
                                          testing::Values(1, 2)));

// Trainings with sharded and with replicated optimizer state have bit-identical
// weights, even if the shards differ in size, for example with three pipelines.
TEST(GptPipelineTest, ShardedStateChangesNoBit) {
  GptPipelineOptions options = Options(0.1);
  options.rule = AdamWRule({});
  for (const ScheduleKind kind :
       {ScheduleKind::kInterleaved1F1B, ScheduleKind::kZeroBubble1P}) {
    options.state = GptPipelineOptions::State::kReplicated;
    const TrainingResult whole = Pipelined(kind, {2, 2, 2}, 3, options);
    options.state = GptPipelineOptions::State::kSharded;
    const TrainingResult sharded = Pipelined(kind, {2, 2, 2}, 3, options);
    EXPECT_EQ(sharded.weights, whole.weights);
    EXPECT_EQ(sharded.evaluation, whole.evaluation);
    for (int step = 0; step < kSteps; ++step) {
      // The gradient norms with sharded and with replicated state may differ by
      // rounding. Each square of a float is exact in double, but the order of
      // the additions differs: with sharded state each rank first sums its own
      // shard.
      const double norm = whole.steps[step].gradient_norm;
      EXPECT_NEAR(
          sharded.steps[step].gradient_norm, norm,
          RoundingBound<double>(
              static_cast<double>(GptWeights(kConfig, {0, 8}).count()), norm));
    }
  }
}

TEST(GptPipelineTest, EqualsSequentialTrainingOverNetworks) {
  for (const TransportChoice choice :
       {TransportChoice::kTcp, TransportChoice::kGloo}) {
    SCOPED_TRACE(Name(choice));
    const auto factory = [choice](GroupPlace place, Instant deadline) {
      return NewTransport(std::move(place), choice, deadline);
    };
    ExpectSameResult(
        Pipelined(ScheduleKind::k1F1B, {2, 1, 2}, 2, Options(0), factory), 4,
        0);
    ExpectSameResult(Pipelined(ScheduleKind::kInterleaved1F1B, {2, 2, 4}, 1,
                               Options(0), factory),
                     4, 0);
  }
}

// The elements of all tensors, by name.
using Checkpoint = std::map<std::string, std::vector<float>>;

void Copy(const std::vector<CheckpointSlice>& from, Checkpoint* to) {
  for (const CheckpointSlice& slice : from) {
    std::vector<float>& values = (*to)[slice.tensor.name];
    values.resize(static_cast<size_t>(slice.tensor.count()));
    std::copy_n(static_cast<const float*>(slice.data), slice.end - slice.begin,
                values.begin() + slice.begin);
  }
}

void Copy(const Checkpoint& from, const std::vector<CheckpointSlice>& to) {
  for (const CheckpointSlice& slice : to) {
    const std::vector<float>& values = from.at(slice.tensor.name);
    ASSERT_EQ(values.size(), static_cast<size_t>(slice.tensor.count()))
        << slice.tensor.name;
    std::copy_n(values.begin() + slice.begin, slice.end - slice.begin,
                static_cast<float*>(slice.data));
  }
}

// Runs steps [from, to) of a pipeline that starts from `checkpoint`, or from
// initial weights if `checkpoint` is empty. Stores the final state in
// `checkpoint`, and returns the last loss.
double Continue(const PipelineShape& shape, int data,
                GptPipelineOptions::State state, int from, int to,
                Checkpoint* checkpoint) {
  std::mutex mutex;
  double loss = 0;
  const Checkpoint begin = *checkpoint;
  checkpoint->clear();
  GptPipelineOptions options = Options(0);
  options.rule = AdamWRule({});
  options.state = state;
  const auto statuses = RunWorld(
      shape.ranks * data,
      [&](ProcessGroup& world) -> absl::Status {
        int step = from;
        int data_rank = 0;
        auto pipeline = GptPipeline::Create(
            world, *MakeSchedule(ScheduleKind::kZeroBubble1P, shape), options,
            [&](int index, GptMicroBatch* filled) {
              *filled =
                  MicroBatch(step, data_rank * shape.micro_batches + index);
              return absl::OkStatus();
            });
        if (!pipeline.ok()) return pipeline.status();
        data_rank = (*pipeline)->data_rank();
        if (!begin.empty()) Copy(begin, (*pipeline)->State());
        for (; step < to; ++step) {
          const auto done =
              (*pipeline)->Step({.step = step + 1, .learning_rate = 1e-3});
          if (!done.ok()) return done.status();
          const std::lock_guard<std::mutex> lock(mutex);
          loss = done->loss;
        }
        const std::lock_guard<std::mutex> lock(mutex);
        Copy((*pipeline)->State(), checkpoint);
        return absl::OkStatus();
      },
      SharedMemory());
  EXPECT_TRUE(FirstFailure(statuses).ok()) << FirstFailure(statuses);
  return loss;
}

TEST(GptPipelineTest, AnyMeshGoesOnWhereAnotherStopped) {
  Checkpoint whole;
  const double expected = Continue(
      {1, 1, 4}, 1, GptPipelineOptions::State::kReplicated, 0, 4, &whole);
  Checkpoint checkpoint;
  Continue({2, 2, 2}, 2, GptPipelineOptions::State::kSharded, 0, 2,
           &checkpoint);
  EXPECT_EQ(checkpoint.size(), whole.size());
  const auto go_on = [](Checkpoint from) {
    return Continue({3, 1, 4}, 1, GptPipelineOptions::State::kReplicated, 2, 4,
                    &from);
  };
  const double loss = go_on(checkpoint);
  // The factors by which a small error in the checkpoint grows until it reaches
  // the loss (condition numbers).
  const std::vector<double> conditions = Condition([&](Disturbance disturb) {
    Checkpoint disturbed = checkpoint;
    for (auto& [name, values] : disturbed) {
      Disturb(values.data(), static_cast<int64_t>(values.size()), &disturb);
    }
    return std::vector<std::vector<double>>{{go_on(disturbed)}};
  });
  const double bound =
      RoundingBound<float>(4 * kConfig.width + 4, conditions[0]);
  EXPECT_NEAR(loss, expected, bound);
  // The comparison must detect a training that runs one step too few: its loss
  // differs by more than the bound of the rounding errors.
  Checkpoint fewer = checkpoint;
  EXPECT_GT(
      std::abs(Continue({3, 1, 4}, 1, GptPipelineOptions::State::kReplicated, 3,
                        4, &fewer) -
               expected),
      bound);
}

// If one rank fails, all ranks of all pipelines must fail at once, in whatever
// operation each of them is blocked.
TEST(GptPipelineTest, FailureOfARankFailsAllRanks) {
  for (const int fatal_step : {0, 1}) {
    const auto statuses = RunWorld(
        4,
        [&](ProcessGroup& world) -> absl::Status {
          int step = 0;
          auto pipeline = GptPipeline::Create(
              world, *MakeSchedule(ScheduleKind::k1F1B, {2, 1, 4}), Options(0),
              [&](int index, GptMicroBatch* filled) {
                *filled = MicroBatch(step, index);
                return world.rank() == 3 && step == fatal_step && index == 2
                           ? absl::NotFoundError("no more paper")
                           : absl::OkStatus();
              });
          if (!pipeline.ok()) return pipeline.status();
          absl::Status status;
          for (; step < 2 && status.ok(); ++step) {
            status = (*pipeline)
                         ->Step({.step = step + 1, .learning_rate = 0.1})
                         .status();
          }
          EXPECT_FALSE((*pipeline)->Evaluate().ok());
          return status;
        },
        SharedMemory());
    EXPECT_EQ(statuses[3].code(), absl::StatusCode::kNotFound);
    for (const absl::Status& status : statuses) {
      EXPECT_THAT(std::string(status.message()),
                  testing::HasSubstr("stage 1 on rank 3, 1F2: no more paper"));
    }
  }
}

TEST(GptPipelineTest, InvalidPipelineIsRefused) {
  const auto complaint = [](const PipelineShape& shape, int world,
                            const GptPipelineOptions& options) {
    const auto statuses = RunWorld(world, [&](ProcessGroup& group) {
      return GptPipeline::Create(
                 group, *MakeSchedule(ScheduleKind::kZeroBubble1P, shape),
                 options, [](int, GptMicroBatch*) { return absl::OkStatus(); })
          .status();
    });
    return std::string(statuses[0].message());
  };
  EXPECT_EQ(complaint({2, 1, 2}, 3, Options(0)),
            "pipelines of 2 ranks cannot be made of 3 ranks");
  EXPECT_EQ(complaint({1, 2, 2}, 1, Options(0)),
            "a pipeline of one rank has one stage, not 2");
  EXPECT_EQ(complaint({2, 6, 2}, 2, Options(0)),
            "8 layers cannot be split over 12 stages: each needs one");
  GptPipelineOptions options = Options(0);
  options.time = 9;
  EXPECT_EQ(complaint({1, 1, 2}, 1, options),
            "micro-batches of 2 sequences of 9 tokens, for a context of 8");
}

TEST(GptPipelineTest, TheWholeGradientIsClipped) {
  const double clip = 0.5 * SequentialOf(4, 0).result().steps[0].gradient_norm;
  ExpectSameResult(Pipelined(ScheduleKind::k1F1B, {2, 1, 2}, 2, Options(clip)),
                   4, clip);
}

TEST(GptPipelineTest, ForgottenMicroBatchIsMoreThanRounding) {
  for (const int micro_batches : {2, 16}) {
    EXPECT_NE(SequentialOf(micro_batches, 0)
                  .WrongList(Sequential(micro_batches, 0, Disturbance(),
                                        Planted::kForgottenMicroBatch)),
              -1);
  }
}

}  // namespace
}  // namespace muster::models
