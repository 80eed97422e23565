#include "models/trainer/training_options.h"

#include <functional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "trainer_sdk/process_group/testing/group_fixture.h"

namespace muster::models {
namespace {

using ::testing::HasSubstr;

// Returns the differences between the default options and those changed by
// `change`.
std::string DifferenceAfter(
    const std::function<void(GptTrainingOptions&)>& change) {
  GptTrainingOptions options;
  const std::string was = DescribeHyperparameters(options);
  change(options);
  return HyperparameterDifference(DescribeHyperparameters(options), was);
}

TEST(HyperparametersTest, DifferencesAreListed) {
  GptTrainingOptions one;
  GptTrainingOptions other = one;
  EXPECT_EQ(HyperparameterDifference(DescribeHyperparameters(one),
                                     DescribeHyperparameters(other)),
            "");
  other.seed = 7;
  other.batch = 5;
  EXPECT_EQ(HyperparameterDifference(DescribeHyperparameters(other),
                                     DescribeHyperparameters(one)),
            "batch 5, was 12; seed 7, was 1337");
  EXPECT_THAT(HyperparameterDifference(DescribeHyperparameters(one), ""),
              HasSubstr("seed 1337, was not known"));
  EXPECT_EQ(HyperparameterDifference("a 1\nb 2\n", "a 3\nc 4\n", ", there "),
            "a 1, there 3; b 2, there not known");
}

TEST(HyperparametersTest, SaysSoInTheFlagsWords) {
  const auto change = [](GptTrainingOptions& options) {
    options.order = GptTrainingOptions::GradientOrder::kPairwise;
    options.precision = DType::kBFloat16;
    options.device = GptTrainingOptions::Device::kCuda;
    options.model.biases = GptConfig::Biases::kAll;
    options.learning_rate.decay = LearningRateSchedule::Decay::kLinear;
    options.text_fingerprint = "3 tokens (00ff)";
  };
  EXPECT_EQ(DifferenceAfter(change),
            "biases on, was off; decay linear over 2000 steps, was cosine over "
            "2000 steps; device cuda, was cpu; pairwise on, was off; precision "
            "bf16, was fp32; text 3 tokens (00ff), was ");
}

// The options tested here must be equal on all ranks, so DescribeJointWork
// contains them. But a training that resumes may change them, so
// DescribeHyperparameters does not.
TEST(HyperparametersTest, OptionsWithoutEffectOnLossesAreLeftOut) {
  const auto change = [](GptTrainingOptions& options) {
    options.sharding = GptTrainingOptions::Sharding::kZero1;
    options.loss_scale.initial = 2;
    options.validate_every = 1;
    options.validation_batches = 1;
    options.checkpoint_every = 1;
    options.checkpoint_directory = "folder";
  };
  EXPECT_EQ(DifferenceAfter(change), "");
  GptTrainingOptions options;
  const std::string was = DescribeJointWork(options);
  change(options);
  EXPECT_EQ(HyperparameterDifference(DescribeJointWork(options), was),
            "checkpoint-every 1, was 250; checkpoints some, was none; "
            "loss-scale 2, was 65536; validate-every 1, was 250; "
            "validation-batches 1, was 20; zero on, was off");
}

// If the learning rate decays, --steps is also the end of the decay, so another
// number of steps means another training.
TEST(HyperparametersTest, MoreStepsAreAnotherTrainingWhereTheRateDecays) {
  const auto longer = [](GptTrainingOptions& options) {
    options.steps = options.learning_rate.decay_until = 5000;
  };
  EXPECT_EQ(DifferenceAfter(longer),
            "decay cosine over 5000 steps, was cosine over 2000 steps");
  GptTrainingOptions options;
  options.learning_rate.decay = LearningRateSchedule::Decay::kNone;
  const std::string was = DescribeHyperparameters(options);
  longer(options);
  EXPECT_EQ(HyperparameterDifference(DescribeHyperparameters(options), was),
            "");
}

// If one rank's options differ, every rank gets an error that names this rank.
// On this rank the error also lists the differences.
TEST(HyperparametersTest, RanksHaveRank0sOptions) {
  for (const int strange : {-1, 0, 2}) {
    const auto statuses = RunWorld(3, [&](ProcessGroup& world) {
      GptTrainingOptions options;
      if (world.rank() == strange) options.model.heads = 2;
      return CheckSameHyperparameters(world, DescribeHyperparameters(options));
    });
    for (int rank = 0; rank < 3; ++rank) {
      const std::string said(statuses[rank].message());
      if (strange == -1) {
        EXPECT_TRUE(statuses[rank].ok()) << said;
      } else if (strange == 0) {
        EXPECT_THAT(said, HasSubstr("rank 1, 2 was started with other"));
      } else {
        EXPECT_THAT(said, HasSubstr("rank 2 was started with other options"));
      }
      if (strange == 2 && rank == 2) {
        EXPECT_THAT(said, HasSubstr(": heads 2, on rank 0 4"));
      }
    }
  }
}

}  // namespace
}  // namespace muster::models
