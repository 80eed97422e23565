#include "trainer_sdk/examples/gpt/gpt_command.h"

#include <fstream>
#include <string>
#include <variant>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

struct Read {
  absl::StatusOr<GptCommand> command;
  int exit_code;
};

Read Words(std::vector<std::string> words) {
  words.insert(words.begin(), "gpt");
  std::vector<char*> argv;
  argv.reserve(words.size());
  for (std::string& word : words) argv.push_back(word.data());
  int exit_code = -1;
  auto command =
      ReadGptCommand(static_cast<int>(argv.size()), argv.data(), &exit_code);
  return {std::move(command), exit_code};
}

std::string Text() {
  std::string path = testing::TempDir() + "/text";
  std::ofstream(path) << "a text";
  return path;
}

TEST(GptCommandTest, TrainHasNanoGptsDefaults) {
  const Read read = Words({"train", "--data", Text(), "--steps", "500"});
  ASSERT_TRUE(read.command.ok()) << read.command.status();
  const auto& options = std::get<GptTrainingOptions>(*read.command);
  EXPECT_EQ(options.model.layers, 4);
  EXPECT_EQ(options.model.context, 64);
  EXPECT_EQ(options.batch, 12);
  EXPECT_EQ(options.steps, 500);
  EXPECT_EQ(options.learning_rate.decay_until, 500);
  EXPECT_EQ(options.precision, DType::kFloat32);
}

TEST(GptCommandTest, TrainTakesWordsForKinds) {
  const Read read =
      Words({"train", "--data", Text(), "--precision", "bf16", "--zero",
             "--recompute", "--pairwise", "--biases", "--decay", "linear"});
  ASSERT_TRUE(read.command.ok()) << read.command.status();
  const auto& options = std::get<GptTrainingOptions>(*read.command);
  EXPECT_EQ(options.precision, DType::kBFloat16);
  EXPECT_EQ(options.sharding, GptTrainingOptions::Sharding::kZero1);
  EXPECT_EQ(options.checkpointing, GptStage::Checkpointing::kBlocks);
  EXPECT_EQ(options.order, GptTrainingOptions::GradientOrder::kPairwise);
  EXPECT_EQ(options.model.biases, GptConfig::Biases::kAll);
  EXPECT_EQ(options.learning_rate.decay, LearningRateSchedule::Decay::kLinear);
}

TEST(GptCommandTest, TrainTakesATimeline) {
  const Read plain = Words({"train", "--data", Text()});
  EXPECT_EQ(std::get<GptTrainingOptions>(*plain.command).timeline, "");
  const Read read = Words({"train", "--data", Text(), "--timeline", "step.json",
                           "--timeline-steps", "5"});
  ASSERT_TRUE(read.command.ok()) << read.command.status();
  const auto& options = std::get<GptTrainingOptions>(*read.command);
  EXPECT_EQ(options.timeline, "step.json");
  EXPECT_EQ(options.timeline_steps, 5);
}

TEST(GptCommandTest, EachCommandIsItself) {
  const std::string folder = testing::TempDir();
  EXPECT_TRUE(std::holds_alternative<GptPreparation>(
      *Words({"prepare", "--data", Text(), "--out", "x"}).command));
  EXPECT_TRUE(std::holds_alternative<GptValidation>(
      *Words({"validate", "--data", Text(), "--checkpoint-dir", folder})
           .command));
  EXPECT_TRUE(std::holds_alternative<GptWriting>(
      *Words({"sample", "--checkpoint-dir", folder}).command));
  EXPECT_TRUE(std::holds_alternative<GptExport>(
      *Words({"export", "--checkpoint-dir", folder, "--out", "x"}).command));
}

TEST(GptCommandTest, WhatIsWrongIsSaidWithTheFlag) {
  for (const auto& [words, said] :
       std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{}, "subcommand"},
           {{"train"}, "--data is required"},
           {{"train", "--data", "/nowhere"}, "/nowhere"},
           {{"train", "--data", Text(), "--steps", "0"}, "--steps"},
           {{"train", "--data", Text(), "--precision", "fp8"}, "--precision"},
           {{"train", "--data", Text(), "--clip", "-1"}, "--clip"},
           {{"train", "--data", Text(), "--timeline-steps", "101"},
            "--timeline-steps"},
           {{"sample", "--checkpoint-dir", "/nowhere"}, "/nowhere"},
           {{"fly"}, "subcommand"}}) {
    const Read read = Words(words);
    EXPECT_FALSE(read.command.ok());
    EXPECT_EQ(read.exit_code, 2);
    EXPECT_THAT(std::string(read.command.status().message()), HasSubstr(said));
  }
}

TEST(GptCommandTest, HelpIsNoError) {
  const Read read = Words({"train", "--help"});
  EXPECT_EQ(read.exit_code, 0);
  EXPECT_THAT(std::string(read.command.status().message()),
              HasSubstr("--micro-batches"));
}

}  // namespace
}  // namespace muster
