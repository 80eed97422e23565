#include "models/trainer/gpt_command.h"

#include <cstdint>
#include <fstream>
#include <string>
#include <variant>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster::models {
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
  const Read read = Words({"train", "--data", Text(), "--precision", "bf16",
                           "--zero", "--recompute", "--pairwise", "--biases",
                           "--decay", "linear", "--device", "cuda"});
  ASSERT_TRUE(read.command.ok()) << read.command.status();
  const auto& options = std::get<GptTrainingOptions>(*read.command);
  EXPECT_EQ(options.precision, DType::kBFloat16);
  EXPECT_EQ(options.device, GptTrainingOptions::Device::kCuda);
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

TEST(GptCommandTest, TrainTakesWhatIsOnItsBounds) {
  const Read read =
      Words({"train", "--data", Text(), "--clip", "0", "--beta2", "0",
             "--learning-rate", "1e-3", "--seed", "18446744073709551615",
             "--precision", "fp16", "--loss-scale", "0.5"});
  ASSERT_TRUE(read.command.ok()) << read.command.status();
  const auto& options = std::get<GptTrainingOptions>(*read.command);
  EXPECT_EQ(options.clip, 0);
  EXPECT_EQ(options.adamw.beta2, 0);
  EXPECT_EQ(options.learning_rate.peak, 1e-3);
  EXPECT_EQ(options.seed, ~uint64_t{0});
  EXPECT_EQ(options.loss_scale.initial, 0.5);
}

TEST(GptCommandTest, EachCommandIsItself) {
  const std::string folder = testing::TempDir();
  EXPECT_TRUE(std::holds_alternative<GptPreparation>(
      *Words({"prepare", "--data", Text(), "--out", "x"}).command));
  EXPECT_TRUE(std::holds_alternative<GptValidation>(
      *Words({"validate", "--data", Text(), "--checkpoint-dir", folder})
           .command));
  EXPECT_TRUE(std::holds_alternative<GptSampleCommand>(
      *Words({"sample", "--checkpoint-dir", folder}).command));
  EXPECT_TRUE(std::holds_alternative<GptExport>(
      *Words({"export", "--checkpoint-dir", folder, "--out", "x"}).command));
}

TEST(GptCommandTest, ErrorNamesTheFlag) {
  for (const auto& [words, said] :
       std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{}, "subcommand"},
           {{"train"}, "--data is required"},
           {{"train", "--data", "/nowhere"}, "/nowhere"},
           {{"train", "--data", Text(), "--steps", "0"}, "--steps"},
           {{"train", "--data", Text(), "--precision", "fp8"},
            "--precision: 'fp8' is none of fp32, bf16, fp16"},
           {{"train", "--data", Text(), "--device", "1"},
            "--device: '1' is none of cpu, cuda"},
           {{"train", "--data", Text(), "--clip", "-1"},
            "--clip: '-1' is no number from 0 on\n"},
           {{"train", "--data", Text(), "--learning-rate", "nan"},
            "--learning-rate: 'nan' is no number from 0 on\n"},
           {{"train", "--data", Text(), "--peak", "inf"},
            "--peak: 'inf' is no number from 0 on\n"},
           {{"train", "--data", Text(), "--beta2", "1"},
            "--beta2: '1' is no number from 0 to below 1\n"},
           {{"train", "--data", Text(), "--weight-decay", "0.1x"},
            "--weight-decay: '0.1x' is no number from 0 on\n"},
           {{"train", "--data", Text(), "--loss-scale", "0"},
            "--loss-scale: '0' is no number above 0\n"},
           {{"train", "--data", Text(), "--loss-scale", "8"},
            "--loss-scale: is for --precision fp16\n"},
           {{"train", "--data", Text(), "--seed", "-5"},
            "--seed: '-5' is no whole number from 0 to 2^64-1\n"},
           {{"train", "--data", Text(), "--steps", "abc"},
            "--steps: 'abc' is no whole number from 1 to 1073741824\n"},
           {{"train", "--data", Text(), "--batch", "0"},
            "--batch: '0' is no whole number from 1 to 1073741824\n"},
           {{"sample", "--checkpoint-dir", testing::TempDir(), "--temperature",
             "0"},
            "--temperature: '0' is no number above 0\n"},
           {{"sample", "--checkpoint-dir", testing::TempDir(), "--seed", "1.5"},
            "--seed: '1.5' is no whole number"},
           {{"train", "--data", Text(), "--timeline-steps", "5"},
            "--timeline-steps requires --timeline\n"},
           {{"train", "--data", Text(), "--timeline-steps", "101"},
            "--timeline-steps"},
           {{"sample", "--checkpoint-dir", "/nowhere"}, "/nowhere"},
           {{"fly"},
            "'fly' is none of the commands train, prepare, validate, sample, "
            "export\n"}}) {
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
}  // namespace muster::models
