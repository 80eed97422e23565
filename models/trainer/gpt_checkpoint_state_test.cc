#include <string>

#include "gtest/gtest.h"
#include "models/trainer/gpt_trainer.h"

namespace muster::models {
namespace {

GptCheckpointState State() {
  return {
      .model = {.vocabulary = 65,
                .context = 64,
                .layers = 4,
                .heads = 4,
                .width = 128,
                .biases = GptConfig::Biases::kNone},
      .progress = {.updates = 41, .scaler = {.scale = 32768, .good_steps = 7}},
      .hyperparameters = "seed 1\nbatch 2\n",
      .vocabulary = std::string("a\nb\0c", 5)};
}

TEST(GptCheckpointStateTest, IsReadBackAsItWas) {
  const auto read = ParseGptCheckpointState(ToBytes(State()));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->model, State().model);
  EXPECT_EQ(read->progress.updates, 41);
  EXPECT_EQ(read->progress.scaler.scale, 32768);
  EXPECT_EQ(read->progress.scaler.good_steps, 7);
  EXPECT_EQ(read->hyperparameters, State().hyperparameters);
  EXPECT_EQ(read->vocabulary, State().vocabulary);
}

TEST(GptCheckpointStateTest, CutOrUnknownStateIsRefused) {
  const std::string bytes = ToBytes(State());
  const size_t line = bytes.find('\n');
  for (size_t length = 0; length <= line; ++length) {
    EXPECT_FALSE(ParseGptCheckpointState(bytes.substr(0, length)).ok())
        << length;
  }
  for (const char* strange :
       {"\n", "[]\n", "{}\n", "{\"vocabulary\": \"x\"}\n", "not JSON\n"}) {
    EXPECT_FALSE(ParseGptCheckpointState(strange).ok()) << strange;
  }
}

TEST(GptCheckpointStateTest, NumbersAreChecked) {
  GptCheckpointState state = State();
  state.model.heads = 3;
  EXPECT_FALSE(ParseGptCheckpointState(ToBytes(state)).ok());
  state = State();
  state.progress.scaler.scale = 0;
  EXPECT_FALSE(ParseGptCheckpointState(ToBytes(state)).ok());
  state = State();
  state.progress.updates = -1;
  EXPECT_FALSE(ParseGptCheckpointState(ToBytes(state)).ok());
}

}  // namespace
}  // namespace muster::models
