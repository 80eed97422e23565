#include "models/pipeline_trainer/pipeline_options.h"

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster::models {
namespace {

using ::testing::HasSubstr;

std::string FileOf(const std::string& name, const std::string& content) {
  std::string path = testing::TempDir() + "/" + name;
  std::ofstream(path) << content;
  return path;
}

absl::StatusOr<PipelineTrainingOptions> Read(std::vector<std::string> words,
                                             int* exit_code) {
  words.insert(words.begin(),
               {"gpt_pipeline", "--data", FileOf("text", "a text")});
  std::vector<char*> argv;
  argv.reserve(words.size());
  for (std::string& word : words) argv.push_back(word.data());
  return ReadPipelineOptions(static_cast<int>(argv.size()), argv.data(),
                             exit_code);
}

PipelineTrainingOptions Options(std::vector<std::string> words) {
  int exit_code = -1;
  const auto options = Read(std::move(words), &exit_code);
  EXPECT_TRUE(options.ok()) << options.status();
  return options.value_or(PipelineTrainingOptions{});
}

TEST(PipelineOptionsTest, TheOtherExamplesFlagsAreTaken) {
  const PipelineTrainingOptions options =
      Options({"--checkpoint-dir", "somewhere", "--checkpoint-every", "7",
               "--keep", "3", "--zero", "--recompute", "--biases", "--steps",
               "500", "--pp", "2"});
  const GptTrainingOptions& training = options.training;
  EXPECT_EQ(training.checkpoint_directory, "somewhere");
  EXPECT_EQ(training.checkpoint_every, 7);
  EXPECT_EQ(training.keep_checkpoints, 3);
  EXPECT_EQ(training.sharding, GptTrainingOptions::Sharding::kZero1);
  EXPECT_EQ(training.checkpointing, GptStage::Checkpointing::kBlocks);
  EXPECT_EQ(training.model.biases, GptConfig::Biases::kAll);
  EXPECT_EQ(training.learning_rate.decay_until, 500);
  EXPECT_EQ(options.ranks, 2);
  EXPECT_EQ(options.micro_batches, 8);
}

TEST(PipelineOptionsTest, FlagsOfTheWholeModelAreRefused) {
  for (const std::string flag :
       {"--precision=bf16", "--pairwise", "--timeline=t"}) {
    int exit_code = -1;
    const auto options = Read({flag}, &exit_code);
    EXPECT_EQ(exit_code, 2);
    EXPECT_THAT(std::string(options.status().message()), HasSubstr(flag));
  }
}

TEST(PipelineOptionsTest, InvalidScheduleFileIsNamed) {
  const auto said = [](const std::string& path) {
    return ChosenSchedule(Options({"--schedule-csv", path}), 2)
        .status()
        .ToString();
  };
  const std::string wrong = FileOf("wrong.csv", "0F0,0B0\n1F0,1X0\n");
  EXPECT_THAT(said(wrong), HasSubstr(wrong + ": line 2, column 2: "));
  const std::string empty = FileOf("empty.csv", "\n");
  EXPECT_THAT(said(empty), HasSubstr(empty + ": there is no schedule in it"));
}

TEST(PipelineOptionsTest, CountsOfOneAreSingular) {
  EXPECT_EQ(DescribePipelines({2, 1, 8}, 2),
            "1 pipeline of 2 ranks with 1 stage each");
  EXPECT_EQ(DescribePipelines({1, 2, 8}, 4),
            "4 pipelines of 1 rank with 2 stages each");
}

TEST(PipelineHyperparametersTest, MicroBatchesAreThoseOfAllPipelines) {
  PipelineTrainingOptions options = Options({"--pp", "2"});
  const auto schedule = ChosenSchedule(options, 6);
  ASSERT_TRUE(schedule.ok()) << schedule.status();
  const GptTrainingOptions whole = AsWhole(options, schedule->shape, 6);
  EXPECT_EQ(whole.micro_batches, 24);
  EXPECT_EQ(whole.validation_batches, 24);
  EXPECT_EQ(whole.batch, options.training.batch);
}

// Two schedule files of the same shape have different descriptions, because the
// description has a hash of the content.
TEST(PipelineHyperparametersTest, ASplitIsWhatRanksMustHaveAlike) {
  const auto split = [](std::vector<std::string> words) {
    const PipelineTrainingOptions options = Options(std::move(words));
    const auto schedule = ChosenSchedule(options, 2);
    EXPECT_TRUE(schedule.ok()) << schedule.status();
    return schedule.ok() ? DescribeSplit(options, *schedule) : "";
  };
  EXPECT_EQ(split({}), "pp 2\nchunks 1\nschedule 1f1b\n");
  const std::string one =
      split({"--schedule-csv",
             FileOf("one.csv", "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n")});
  const std::string other =
      split({"--schedule-csv",
             FileOf("other.csv", "0F0,0F1,0B0,0B1\n1F0,1F1,1B0,1B1\n")});
  EXPECT_THAT(one, HasSubstr("pp 2\nchunks 1\nschedule of a file, "));
  EXPECT_NE(one, other);
}

}  // namespace
}  // namespace muster::models
