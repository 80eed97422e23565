#include "models/trainer/gpt_checkpoint.h"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/text/vocabulary.h"
#include "models/trainer/host_gpt_trainer.h"
#include "models/trainer/testing/small_training.h"
#include "trainer_sdk/process_group/testing/group_fixture.h"

namespace muster::models {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class GptCheckpoint : public testing::Test {
 protected:
  GptCheckpoint() {
    std::string pattern = testing::TempDir() + "/gptXXXXXX";
    options_ = SmallTraining();
    options_.checkpoint_directory = mkdtemp(pattern.data());
    options_.order = GptTrainingOptions::GradientOrder::kPairwise;
  }
  ~GptCheckpoint() override {
    std::filesystem::remove_all(options_.checkpoint_directory);
  }

  // Resumes from the newest checkpoint, trains to step `last` and saves a
  // checkpoint. Returns the losses.
  std::vector<double> TrainTo(int64_t last, int world) {
    ResumedTraining result;
    const auto statuses = RunWorld(
        world,
        [&](ProcessGroup& group) -> absl::Status {
          auto trainer =
              HostGptTrainer::Create(options_, LearnableText(), group);
          if (!trainer.ok()) return trainer.status();
          return GoOnTo(last, options_, **trainer, group, &result);
        },
        SharedMemory());
    EXPECT_TRUE(FirstFailure(statuses).ok()) << FirstFailure(statuses);
    return result.losses;
  }

  absl::Status ResumeWith(const Vocabulary& vocabulary) {
    return FirstFailure(RunWorld(
        2,
        [&](ProcessGroup& group) -> absl::Status {
          auto trainer =
              HostGptTrainer::Create(options_, LearnableText(), group);
          if (!trainer.ok()) return trainer.status();
          auto checkpoints =
              GptCheckpoints::Create(options_, vocabulary, **trainer, group);
          if (!checkpoints.ok()) return checkpoints.status();
          return (*checkpoints)->Resume().status();
        },
        SharedMemory()));
  }

  GptTrainingOptions options_;
};

// Four ranks save a training, and two, one or four ranks resume it. The losses
// must be those of an uninterrupted training, with sharded and with replicated
// state.
TEST_F(GptCheckpoint, GoesOnWithAnyNumberOfRanksAsIfNothingHadHappened) {
  const std::string folder = options_.checkpoint_directory;
  options_.checkpoint_directory = folder + "/undisturbed";
  const std::vector<double> undisturbed = TrainTo(20, 1);
  ASSERT_EQ(undisturbed.size(), 20u);
  for (const auto sharding : {GptTrainingOptions::Sharding::kNone,
                              GptTrainingOptions::Sharding::kZero1}) {
    options_.sharding = sharding;
    options_.checkpoint_directory =
        folder + "/" + std::to_string(static_cast<int>(sharding));
    std::vector<double> losses;
    int64_t last = 0;
    for (const int world : {4, 2, 1, 4}) {
      last += 5;
      for (const double loss : TrainTo(last, world)) losses.push_back(loss);
    }
    EXPECT_EQ(losses, undisturbed);
  }
}

// A training with sharded state can resume from a checkpoint of one with
// replicated state, and vice versa.
TEST_F(GptCheckpoint, ShardedAndWholeStateAreTheSameCheckpoint) {
  const std::string folder = options_.checkpoint_directory;
  options_.checkpoint_directory = folder + "/undisturbed";
  const std::vector<double> undisturbed = TrainTo(12, 2);
  options_.checkpoint_directory = folder + "/mixed";
  std::vector<double> losses;
  int64_t last = 0;
  for (const auto sharding : {GptTrainingOptions::Sharding::kZero1,
                              GptTrainingOptions::Sharding::kNone,
                              GptTrainingOptions::Sharding::kZero1}) {
    options_.sharding = sharding;
    last += 4;
    for (const double loss : TrainTo(last, 2)) losses.push_back(loss);
  }
  EXPECT_EQ(losses, undisturbed);
}

TEST_F(GptCheckpoint, HoldsAllThatWritingNeeds) {
  TrainTo(7, 2);
  const absl::StatusOr<TrainedGpt> trained =
      OpenTrainedGpt(options_.checkpoint_directory);
  ASSERT_TRUE(trained.ok()) << trained.status();
  EXPECT_EQ(trained->step, 7);
  EXPECT_EQ(trained->weights->config(), options_.model);
  EXPECT_EQ(trained->vocabulary->Serialize(), Vocabulary11().Serialize());
}

// The error reports all differences, not only the first.
TEST_F(GptCheckpoint, OfAnotherModelOrVocabularyIsRefused) {
  TrainTo(3, 2);
  const CharVocabulary capitals("ABCDEFGHIJK");
  const absl::Status other_text = ResumeWith(capitals);
  EXPECT_EQ(other_text.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(
      std::string(other_text.message()),
      AllOf(HasSubstr("'" + options_.checkpoint_directory),
            HasSubstr("is of another model than this training: vocabulary " +
                      capitals.Describe() + ", there " +
                      Vocabulary11().Describe() + "; give what it was")));
  options_.model.layers = 1;
  options_.model.width = 32;
  options_.model.biases = GptConfig::Biases::kNone;
  options_.order = GptTrainingOptions::GradientOrder::kByRank;
  options_.precision = DType::kBFloat16;
  const absl::Status other_model = ResumeWith(Vocabulary11());
  EXPECT_EQ(other_model.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(other_model.message()),
              HasSubstr("training: biases off, there on; layers 1, there 2; "
                        "width 32, there 16; precision bf16, there fp32; "));
  // A text with other characters has another vocabulary, with another number of
  // tokens. The error must report the difference of the vocabularies once, and
  // not the numbers of tokens in addition.
  options_.model.vocabulary = 12;
  const CharVocabulary more("abcdefghijkl");
  EXPECT_THAT(std::string(ResumeWith(more).message()),
              HasSubstr("vocabulary " + more.Describe() + ", there " +
                        Vocabulary11().Describe() + "; biases off"));
}

TEST_F(GptCheckpoint, ChangedOptionsAndTextAreReported) {
  options_.text_fingerprint = "3 tokens (00ff)";
  TrainTo(3, 2);
  options_.seed = 5;
  options_.text_fingerprint = "3 tokens (0f0f)";
  options_.checkpoint_every = 3;
  const auto statuses = RunWorld(
      2,
      [&](ProcessGroup& group) -> absl::Status {
        auto trainer = HostGptTrainer::Create(options_, LearnableText(), group);
        if (!trainer.ok()) return trainer.status();
        auto checkpoints =
            GptCheckpoints::Create(options_, Vocabulary11(), **trainer, group);
        if (!checkpoints.ok()) return checkpoints.status();
        absl::Status status = (*checkpoints)->Resume().status();
        EXPECT_EQ((*checkpoints)->other_options(),
                  "seed 5, was 1337; text 3 tokens (0f0f), was 3 tokens "
                  "(00ff)");
        return status;
      },
      SharedMemory());
  EXPECT_TRUE(FirstFailure(statuses).ok()) << FirstFailure(statuses);
}

TEST_F(GptCheckpoint, ThereIsNoneToWriteWith) {
  EXPECT_EQ(OpenTrainedGpt(options_.checkpoint_directory).status().code(),
            absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace muster::models
