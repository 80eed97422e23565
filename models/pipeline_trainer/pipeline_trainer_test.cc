#include "models/pipeline_trainer/pipeline_trainer.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/testing/rounding.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/trainer/testing/small_training.h"
#include "trainer_sdk/process_group/testing/group_fixture.h"

namespace muster::models {
namespace {

using ::testing::HasSubstr;

PipelineTrainingOptions Small() {
  PipelineTrainingOptions options;
  options.training = SmallTraining();
  options.training.model.layers = 4;
  options.micro_batches = 4;
  return options;
}

struct TrainingResult {
  std::vector<double> losses;
  double validation = 0;
  std::string picture;
};

// Trains `steps` steps and returns the results. Calls `disturb`, unless it is
// null, on the state after each step.
TrainingResult Train(const PipelineTrainingOptions& options, int world,
                     int steps, Disturbance* disturb = nullptr) {
  std::vector<TrainingResult> results(static_cast<size_t>(world));
  const auto statuses = RunWorld(
      world,
      [&](ProcessGroup& group) -> absl::Status {
        TrainingResult& result = results[static_cast<size_t>(group.rank())];
        auto schedule = ChosenSchedule(options, world);
        if (!schedule.ok()) return schedule.status();
        auto trainer = PipelineTrainer::Create(options, *std::move(schedule),
                                               LearnableText(), group);
        if (!trainer.ok()) return trainer.status();
        for (int64_t step = 0; step < steps; ++step) {
          const auto done = (*trainer)->Step(step);
          if (!done.ok()) return done.status();
          result.losses.push_back(done->loss);
          if (disturb == nullptr) continue;
          const absl::Status disturbed = DisturbState(**trainer, *disturb);
          if (!disturbed.ok()) return disturbed;
        }
        const auto validation = (*trainer)->Validate();
        if (!validation.ok()) return validation.status();
        result.validation = *validation;
        const auto picture = (*trainer)->Picture();
        if (!picture.ok()) return picture.status();
        result.picture = *picture;
        return absl::OkStatus();
      },
      SharedMemory());
  EXPECT_TRUE(FirstFailure(statuses).ok()) << FirstFailure(statuses);
  for (const TrainingResult& result : results) {
    EXPECT_EQ(result.losses, results[0].losses);
    EXPECT_EQ(result.validation, results[0].validation);
  }
  return results[0];
}

TEST(PipelineTrainerTest, Learns) {
  const TrainingResult result = Train(Small(), 2, 40);
  EXPECT_GT(result.losses.front(), 2.2);
  EXPECT_LT(result.losses.back(), 0.5);
  EXPECT_LT(result.validation, 0.5);
  EXPECT_THAT(result.picture, HasSubstr("1f1b, as measured in step 40"));
  EXPECT_THAT(result.picture, HasSubstr("2 ranks, 2 stages, 4 micro-batches"));
}

TEST(PipelineTrainerTest, AnyMeshGivesTheSameResult) {
  PipelineTrainingOptions options = Small();
  options.micro_batches = 8;
  const auto numbers = [](const TrainingResult& result) {
    return std::vector<std::vector<double>>{result.losses, {result.validation}};
  };
  const RoundingReference alone([&](Disturbance disturb) {
    return numbers(Train(options, 1, 4, &disturb));
  });
  const double operations = RoundingsOf(options.training) + 8;
  PipelineTrainingOptions planted = options;
  planted.training.learning_rate.peak *= 1.001;
  EXPECT_NE(alone.WrongList<float>(operations, numbers(Train(planted, 1, 4))),
            -1)
      << "planted";
  options.ranks = 2;
  options.chunks = 2;
  options.micro_batches = 4;
  options.schedule = "interleaved_1f1b";
  options.training.sharding = GptTrainingOptions::Sharding::kZero1;
  const TrainingResult mesh = Train(options, 4, 4);
  EXPECT_EQ(alone.WrongList<float>(operations, numbers(mesh)), -1);
}

TEST(PipelineTrainerTest, InvalidOptionsAreRefused) {
  const auto complaint = [](const PipelineTrainingOptions& options, int world) {
    const auto statuses = RunWorld(world, [&](ProcessGroup& group) {
      auto schedule = ChosenSchedule(options, world);
      if (!schedule.ok()) return schedule.status();
      return PipelineTrainer::Create(options, *std::move(schedule),
                                     LearnableText(), group)
          .status();
    });
    return std::string(statuses[0].message());
  };
  PipelineTrainingOptions options = Small();
  options.ranks = 2;
  EXPECT_THAT(complaint(options, 3),
              HasSubstr("pipelines of 2 ranks cannot be made of 3 ranks"));
  options.ranks = 5;
  EXPECT_THAT(complaint(options, 5),
              HasSubstr("4 layers cannot be split over 5 stages"));
  options.schedule = "2f2b";
  EXPECT_THAT(complaint(options, 5), HasSubstr("no schedule '2f2b'"));
  options = Small();
  options.chunks = 2;
  options.schedule = "zb1p";
  EXPECT_THAT(complaint(options, 1),
              HasSubstr("a pipeline of one rank has one stage, not 2"));
  options = Small();
  options.training.model.context = 60;
  EXPECT_THAT(complaint(options, 1), HasSubstr("a text of 500 tokens"));
}

// If the options of one rank differ, all ranks get an error when they create
// the trainer, before any rank waits for another in a pipeline.
TEST(PipelineTrainerTest, ARankWithOtherOptionsIsNamed) {
  const auto complaint =
      [](const std::function<void(PipelineTrainingOptions&)>& change) {
        const auto statuses = RunWorld(4, [&](ProcessGroup& group) {
          PipelineTrainingOptions options = Small();
          options.ranks = 2;
          if (group.rank() == 3) change(options);
          auto schedule = ChosenSchedule(options, 4);
          if (!schedule.ok()) return schedule.status();
          return PipelineTrainer::Create(options, *std::move(schedule),
                                         LearnableText(), group)
              .status();
        });
        EXPECT_THAT(std::string(statuses[0].message()),
                    HasSubstr("rank 3 was started with other options"));
        return std::string(statuses[3].message());
      };
  EXPECT_THAT(complaint([](auto& options) { options.training.seed = 7; }),
              HasSubstr(": seed 7, on rank 0 1337"));
  EXPECT_THAT(complaint([](auto& options) {
                options.training.text_fingerprint = "3 tokens (00ff)";
              }),
              HasSubstr(": text 3 tokens (00ff), on rank 0 "));
  EXPECT_THAT(
      complaint([](auto& options) { options.training.checkpoint_every = 3; }),
      HasSubstr(": checkpoint-every 3, on rank 0 250"));
  EXPECT_THAT(complaint([](auto& options) { options.ranks = 4; }),
              HasSubstr("pp 4, on rank 0 2"));
  EXPECT_THAT(complaint([](auto& options) {
                options.chunks = 2;
                options.schedule = "interleaved_1f1b";
              }),
              HasSubstr(": chunks 2, on rank 0 1; schedule interleaved_1f1b, "
                        "on rank 0 1f1b"));
  EXPECT_THAT(complaint([](auto& options) { options.micro_batches = 2; }),
              HasSubstr("micro-batches 4, on rank 0 8"));
}

}  // namespace
}  // namespace muster::models
