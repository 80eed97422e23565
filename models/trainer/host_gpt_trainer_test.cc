#include "models/trainer/host_gpt_trainer.h"

#include <cmath>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/fnv_hash.h"
#include "base/testing/rounding.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/trainer/testing/small_training.h"
#include "trainer_sdk/gloo/gloo_transport.h"
#include "trainer_sdk/process_group/testing/group_fixture.h"

namespace muster::models {
namespace {

using ::testing::HasSubstr;

// The results of one rank.
struct TrainingResult {
  std::vector<double> losses;
  // The hash of the weights after each step.
  std::vector<uint64_t> hashes;
  std::vector<double> norms;
  double validation = 0;
};

GptTrainingOptions WithMicroBatches(int64_t count) {
  GptTrainingOptions options = SmallTraining();
  options.micro_batches = count;
  return options;
}

struct Training {
  int world = 1;
  int64_t steps = 8;
  GptTrainingOptions options = SmallTraining();
  TransportFactory factory = SharedMemory();
  // The disturbance that is applied to the state after each step; null: none.
  Disturbance* disturb = nullptr;
};

// Returns a hash of all weights, which must be equal on all ranks after every
// step.
uint64_t WeightsHash(HostGptTrainer& trainer) {
  const GptWeights& weights = **trainer.Weights();
  FnvHash hash;
  for (int64_t i = 0; i < weights.count(); ++i) {
    uint32_t bits;
    std::memcpy(&bits, weights.data() + i, sizeof(bits));
    hash.AddWord(bits);
  }
  return hash.value();
}

absl::Status TakeSteps(HostGptTrainer& trainer, int64_t first, int64_t last,
                       TrainingResult* result) {
  for (int64_t step = first; step < last; ++step) {
    const auto done = trainer.Step(step);
    if (!done.ok()) return done.status();
    result->losses.push_back(done->loss);
    result->norms.push_back(done->gradient_norm);
    result->hashes.push_back(WeightsHash(trainer));
  }
  return absl::OkStatus();
}

std::vector<TrainingResult> Train(const Training& training) {
  std::vector<TrainingResult> results(static_cast<size_t>(training.world));
  const auto statuses = RunWorld(
      training.world,
      [&](ProcessGroup& group) -> absl::Status {
        TrainingResult& result = results[static_cast<size_t>(group.rank())];
        auto trainer =
            HostGptTrainer::Create(training.options, LearnableText(), group);
        if (!trainer.ok()) return trainer.status();
        absl::Status status;
        for (int64_t step = 0; step < training.steps && status.ok(); ++step) {
          status = TakeSteps(**trainer, step, step + 1, &result);
          if (training.disturb != nullptr) {
            status.Update(DisturbState(**trainer, *training.disturb));
          }
        }
        if (!status.ok()) return status;
        const auto validation = (*trainer)->Validate();
        if (!validation.ok()) return validation.status();
        result.validation = *validation;
        return absl::OkStatus();
      },
      training.factory);
  EXPECT_TRUE(FirstFailure(statuses).ok()) << FirstFailure(statuses);
  return results;
}

std::vector<std::vector<double>> NumbersOf(const TrainingResult& result) {
  return {result.losses, result.norms, {result.validation}};
}

// Expects that `results` differ from those of a training on one rank by no more
// than rounding errors. Also expects that this comparison detects a slightly
// wrong learning rate.
void ExpectResultOfOneRank(const std::vector<TrainingResult>& results,
                           const GptTrainingOptions& options) {
  const RoundingReference alone([&](Disturbance disturb) {
    return NumbersOf(Train({.options = options, .disturb = &disturb})[0]);
  });
  const double operations = RoundingsOf(options);
  for (const TrainingResult& result : results) {
    EXPECT_EQ(alone.WrongList<float>(operations, NumbersOf(result)), -1);
  }
  GptTrainingOptions planted = options;
  planted.learning_rate.peak *= 1.001;
  EXPECT_NE(alone.WrongList<float>(operations,
                                   NumbersOf(Train({.options = planted})[0])),
            -1)
      << "planted";
}

TEST(HostGptTrainerTest, LearnsAndAllRanksStayAlike) {
  const std::vector<TrainingResult> results = Train({.world = 2, .steps = 40});
  EXPECT_GT(results[0].losses.front(), 2.2);
  EXPECT_LT(results[0].losses.back(), 0.5);
  EXPECT_LT(results[0].validation, 0.5);
  EXPECT_EQ(results[0].hashes, results[1].hashes);
  EXPECT_EQ(results[0].losses, results[1].losses);
}

TEST(HostGptTrainerTest, RanksAreAccumulationOnOneRankBitForBit) {
  for (const int world : {2, 4}) {
    const TrainingResult alone = Train({.options = WithMicroBatches(world)})[0];
    for (const TrainingResult& result :
         Train({.world = world, .options = WithMicroBatches(world)})) {
      EXPECT_EQ(result.losses, alone.losses) << world << " ranks";
      EXPECT_EQ(result.hashes, alone.hashes) << world << " ranks";
    }
  }
}

TEST(HostGptTrainerTest, OverGlooRanksStayAlikeAndNearOneRank) {
  for (const int world : {2, 4}) {
    SCOPED_TRACE(world);
    const std::vector<TrainingResult> results =
        Train({.world = world,
               .options = WithMicroBatches(world),
               .factory = [](GroupPlace place, Instant deadline) {
                 return NewGlooTransport(std::move(place), {}, deadline);
               }});
    for (const TrainingResult& result : results) {
      EXPECT_EQ(result.hashes, results[0].hashes);
    }
    ExpectResultOfOneRank(results, WithMicroBatches(world));
  }
}

TEST(HostGptTrainerTest, AnyNumberOfRanksGivesTheSameResult) {
  for (const int world : {2, 4}) {
    SCOPED_TRACE(world);
    ExpectResultOfOneRank(Train({.world = world}), SmallTraining());
  }
}

// With pairwise addition, the training is bit-identical on any number of ranks
// that is a power of two, over any transport, with sharded and replicated
// state.
TEST(HostGptTrainerTest, InPairsTheNumberOfRanksDoesNotMatter) {
  Training training{.options = WithMicroBatches(8)};
  training.options.order = GptTrainingOptions::GradientOrder::kPairwise;
  const TrainingResult alone = Train(training)[0];
  for (const int world : {2, 4, 8}) {
    training.world = world;
    training.factory = SharedMemory();
    for (const auto sharding : {GptTrainingOptions::Sharding::kNone,
                                GptTrainingOptions::Sharding::kZero1}) {
      training.options.sharding = sharding;
      for (const TrainingResult& result : Train(training)) {
        EXPECT_EQ(result.losses, alone.losses) << world << " ranks";
        EXPECT_EQ(result.norms, alone.norms) << world << " ranks";
        EXPECT_EQ(result.hashes, alone.hashes) << world << " ranks";
        EXPECT_EQ(result.validation, alone.validation) << world << " ranks";
      }
    }
    training.factory = [](GroupPlace place, Instant deadline) {
      return NewGlooTransport(std::move(place), {}, deadline);
    };
    if (world < 8) {
      EXPECT_EQ(Train(training)[0].hashes, alone.hashes) << world << " on Gloo";
    }
  }
}

TEST(HostGptTrainerTest, PairsNeedAPowerOfTwo) {
  GptTrainingOptions options = WithMicroBatches(6);
  options.order = GptTrainingOptions::GradientOrder::kPairwise;
  const auto statuses = RunWorld(1, [&](ProcessGroup& group) {
    return HostGptTrainer::Create(options, LearnableText(), group).status();
  });
  EXPECT_EQ(statuses[0].code(), absl::StatusCode::kInvalidArgument);
}

// Training with sharded optimizer state is bit-identical to training with
// replicated state, for every type of weights, even if the number of elements
// is not a multiple of the number of ranks.
TEST(HostGptTrainerTest, ZeroGivesTheSameBits) {
  for (const DType precision :
       {DType::kFloat32, DType::kBFloat16, DType::kFloat16}) {
    for (const int world : {1, 2, 3, 4}) {
      Training training{.world = world, .options = WithMicroBatches(12)};
      training.options.precision = precision;
      const std::vector<TrainingResult> whole = Train(training);
      training.options.sharding = GptTrainingOptions::Sharding::kZero1;
      const std::vector<TrainingResult> shared = Train(training);
      for (int rank = 0; rank < world; ++rank) {
        EXPECT_EQ(shared[rank].hashes, whole[0].hashes)
            << Name(precision) << ", rank " << rank << " of " << world;
        EXPECT_EQ(shared[rank].losses, whole[0].losses);
      }
    }
  }
}

TEST(HostGptTrainerTest, LearnsIn16Bits) {
  for (const DType precision : {DType::kBFloat16, DType::kFloat16}) {
    Training training{.world = 2, .steps = 60};
    training.options.precision = precision;
    const std::vector<TrainingResult> results = Train(training);
    EXPECT_LT(results[0].losses.back(), 0.5) << Name(precision);
    EXPECT_EQ(results[0].hashes, results[1].hashes) << Name(precision);
  }
}

// The initial loss scale is too high for these gradients. So the first step is
// skipped on every rank, and the next step uses half the scale.
TEST(HostGptTrainerTest, AnOverflowLeavesTheStepOut) {
  Training training{.world = 2, .steps = 12};
  training.options.precision = DType::kFloat16;
  training.options.loss_scale.initial = 1 << 22;
  const std::vector<TrainingResult> results = Train(training);
  ASSERT_FALSE(std::isfinite(results[0].norms[0]));
  EXPECT_TRUE(std::isfinite(results[0].norms.back()));
  for (size_t step = 1; step < results[0].norms.size(); ++step) {
    EXPECT_EQ(!std::isfinite(results[0].norms[step]),
              results[0].hashes[step] == results[0].hashes[step - 1])
        << step;
  }
  EXPECT_EQ(results[0].hashes, results[1].hashes);
}

// A gradient that is not finite at any loss scale must cause an error. With
// float16 the trainer first tries lower loss scales, down to the lowest one.
TEST(HostGptTrainerTest, AGradientThatIsNoNumberIsAnError) {
  for (const DType precision : {DType::kFloat32, DType::kFloat16}) {
    GptTrainingOptions options = SmallTraining();
    options.precision = precision;
    options.learning_rate = {.peak = 1e30, .decay_until = 100};
    const auto statuses = RunWorld(1, [&](ProcessGroup& group) -> absl::Status {
      auto trainer = HostGptTrainer::Create(options, LearnableText(), group);
      if (!trainer.ok()) return trainer.status();
      TrainingResult result;
      return TakeSteps(**trainer, 0, 60, &result);
    });
    EXPECT_EQ(statuses[0].code(), absl::StatusCode::kOutOfRange) << statuses[0];
  }
}

TEST(HostGptTrainerTest, RecomputedActivationsAreTheSame) {
  Training training;
  const TrainingResult kept = Train(training)[0];
  training.options.checkpointing = GptStage::Checkpointing::kBlocks;
  EXPECT_EQ(Train(training)[0].hashes, kept.hashes);
}

// A training that continues from another trainer's State and progress() has the
// same results as an uninterrupted training.
TEST(HostGptTrainerTest, GoesOnFromAStateAsIfNothingHadHappened) {
  for (const DType precision : {DType::kFloat32, DType::kFloat16}) {
    Training training{.world = 2, .steps = 10};
    training.options.precision = precision;
    training.options.sharding = GptTrainingOptions::Sharding::kZero1;
    const std::vector<TrainingResult> whole = Train(training);
    const auto statuses = RunWorld(
        2,
        [&](ProcessGroup& group) -> absl::Status {
          auto first =
              HostGptTrainer::Create(training.options, LearnableText(), group);
          if (!first.ok()) return first.status();
          TrainingResult result;
          absl::Status status = TakeSteps(**first, 0, 6, &result);
          if (!status.ok()) return status;
          GptTrainingOptions options = training.options;
          options.seed = 99;  // the seed of other initial weights
          auto second = HostGptTrainer::Create(options, LearnableText(), group);
          if (!second.ok()) return second.status();
          const auto from = *(*first)->State();
          const auto to = *(*second)->State();
          for (size_t i = 0; i < from.size(); ++i) {
            EXPECT_EQ(from[i].tensor, to[i].tensor);
            std::memcpy(to[i].data, from[i].data,
                        static_cast<size_t>(from[i].end - from[i].begin) * 4);
          }
          status = (*second)->Restore((*first)->progress());
          if (!status.ok()) return status;
          EXPECT_EQ(WeightsHash(**second), whole[0].hashes[5]);
          // The second trainer has another seed and would train on other data,
          // so it cannot continue the training. Instead, copy its progress to
          // the first trainer, and let the first trainer continue.
          status = (*first)->Restore((*second)->progress());
          if (status.ok()) status = TakeSteps(**first, 6, 10, &result);
          EXPECT_EQ(result.hashes, whole[0].hashes) << Name(precision);
          return status;
        },
        SharedMemory());
    EXPECT_TRUE(FirstFailure(statuses).ok()) << FirstFailure(statuses);
  }
}

TEST(HostGptTrainerTest, SameSeedGivesTheSameResult) {
  EXPECT_EQ(Train({.world = 2, .steps = 3})[0].hashes,
            Train({.world = 2, .steps = 3})[0].hashes);
}

TEST(HostGptTrainerTest, ARankWithOtherOptionsIsNamed) {
  const auto complaint = [](void (*change)(GptTrainingOptions&)) {
    const auto statuses = RunWorld(2, [&](ProcessGroup& group) {
      GptTrainingOptions options = SmallTraining();
      if (group.rank() == 1) change(options);
      return HostGptTrainer::Create(options, LearnableText(), group).status();
    });
    EXPECT_THAT(std::string(statuses[0].message()),
                HasSubstr("rank 1 was started with other options"));
    return std::string(statuses[1].message());
  };
  EXPECT_THAT(complaint([](GptTrainingOptions& options) { options.seed = 5; }),
              HasSubstr("other options than rank 0: seed 5, on rank 0 1337"));
  EXPECT_THAT(complaint([](GptTrainingOptions& options) {
                options.text_fingerprint = "3 tokens (00ff)";
              }),
              HasSubstr(": text 3 tokens (00ff), on rank 0 "));
  EXPECT_THAT(complaint([](GptTrainingOptions& options) {
                options.checkpoint_every = 3;
              }),
              HasSubstr(": checkpoint-every 3, on rank 0 250"));
}

TEST(HostGptTrainerTest, RanksMustDivideTheMicroBatches) {
  const auto statuses = RunWorld(3, [](ProcessGroup& group) {
    return HostGptTrainer::Create(SmallTraining(), LearnableText(), group)
        .status();
  });
  EXPECT_NE(statuses[0].message().find(
                "--micro-batches=4 is not a multiple of the world size (3)"),
            absl::string_view::npos)
      << statuses[0];
}

TEST(HostGptTrainerTest, ATextMustHaveAWindowToHoldBack) {
  const auto statuses = RunWorld(1, [](ProcessGroup& group) {
    return HostGptTrainer::Create(
               SmallTraining(),
               std::make_shared<TokensInMemory>(std::vector<int32_t>(80)),
               group)
        .status();
  });
  EXPECT_NE(statuses[0].message().find("a text of 80 tokens"),
            absl::string_view::npos)
      << statuses[0];
}

}  // namespace
}  // namespace muster::models
