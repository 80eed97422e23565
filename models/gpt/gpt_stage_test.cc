#include "models/gpt/gpt_stage.h"

#include <cmath>
#include <cstring>
#include <vector>

#include "base/testing/rounding.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster::models {
namespace {

constexpr int64_t kBatch = 2;
constexpr int64_t kTime = 6;
constexpr GptConfig kConfig{
    .vocabulary = 19, .context = 8, .layers = 4, .heads = 2, .width = 8};

GptMicroBatch Tokens() {
  GptMicroBatch micro_batch;
  for (int i = 0; i < kBatch * kTime; ++i) {
    micro_batch.tokens.push_back(i * 7 % 19);
    micro_batch.targets.push_back(i * 5 % 19);
  }
  return micro_batch;
}

void Ignore(int) {}

// Runs a forward and a backward pass of the whole model. Returns the loss, and
// in `gradients` the gradients of all weights.
double WholePass(GptWeights* weights, std::vector<float>* gradients,
                 GptStage::Checkpointing checkpointing) {
  const GptStage model(*weights, kBatch, kTime, checkpointing);
  GptMicroBatch micro_batch = Tokens();
  std::vector<float> stream;
  model.Forward(&micro_batch, &stream);
  const double loss = model.Loss(&micro_batch, stream, 1);
  weights->ZeroGradients();
  std::vector<int> ready(weights->tensors().size());
  model.Backward(&micro_batch, &stream, [&](int tensor) { ++ready[tensor]; });
  EXPECT_THAT(ready, testing::Each(1));
  gradients->clear();
  for (size_t i = 0; i < weights->tensors().size(); ++i) {
    const float* gradient = weights->gradient(static_cast<int>(i));
    gradients->insert(gradients->end(), gradient,
                      gradient + weights->tensors()[i].count());
  }
  return loss;
}

class AnyBiases : public testing::TestWithParam<GptConfig::Biases> {
 protected:
  GptConfig config() const {
    GptConfig config = kConfig;
    config.biases = GetParam();
    return config;
  }
};

TEST_P(AnyBiases, SmallWeightsKnowNothing) {
  GptWeights weights(config(), {0, 4});
  weights.Initialize(1);
  std::vector<float> gradients;
  // With small random weights all 19 tokens are nearly equally likely, so the
  // loss is near log(19).
  //
  // `deviation` is the standard deviation of a logit. A logit is the product of
  // a vector of length sqrt(8) and a row of 8 random weights with a standard
  // deviation of 0.02. Two differences from log(19) are allowed: four standard
  // deviations of the loss, which is a mean over 12 positions, and deviation^2
  // / 2, by which the mean of e^logit exceeds 1.
  const double deviation = 0.02 * std::sqrt(8.0);
  EXPECT_NEAR(WholePass(&weights, &gradients, GptStage::Checkpointing::kNone),
              std::log(19.0),
              4 * deviation / std::sqrt(12.0) + deviation * deviation / 2);
}

TEST_P(AnyBiases, DescendingLowersTheLoss) {
  GptWeights weights(config(), {0, 4});
  weights.Initialize(1);
  std::vector<float> gradients;
  const double first =
      WholePass(&weights, &gradients, GptStage::Checkpointing::kNone);
  double loss = first;
  for (int step = 0; step < 30; ++step) {
    for (int64_t i = 0; i < weights.count(); ++i) {
      weights.data()[i] -= 0.01f * gradients[static_cast<size_t>(i)];
    }
    loss = WholePass(&weights, &gradients, GptStage::Checkpointing::kNone);
  }
  // A step with a learning rate of 0.01 reduces the loss by about 0.01 times
  // the square of the gradient's norm. The norm is larger than 1, so 30 steps
  // reduce the loss by about 0.3 or more. The required 0.1 is far more than
  // rounding errors.
  EXPECT_LT(loss, first - 0.1);
}

TEST_P(AnyBiases, MemoryThatWasUsedBeforeChangesNoBit) {
  GptWeights weights(config(), {0, 4});
  weights.Initialize(1);
  const GptStage model(weights, kBatch, kTime);
  const auto pass = [&] {
    weights.ZeroGradients();
    GptMicroBatch micro_batch = Tokens();
    std::vector<float> stream;
    model.Forward(&micro_batch, &stream);
    model.Loss(&micro_batch, stream, 1);
    model.Backward(&micro_batch, &stream, Ignore);
    EXPECT_EQ(micro_batch.tokens, Tokens().tokens);
    EXPECT_THAT(micro_batch.blocks, testing::IsEmpty());
    const float* const first = weights.gradient(0);
    return std::vector<float>(first, first + weights.count());
  };
  const std::vector<float> fresh = pass();
  // Two other micro-batches overwrite the model's memory: one with and one
  // without a backward pass. The first micro-batch's pass is then repeated and
  // must give the same gradients.
  for (const bool backward : {true, false}) {
    GptMicroBatch other = Tokens();
    std::swap(other.tokens, other.targets);
    std::vector<float> stream;
    model.Forward(&other, &stream);
    model.Loss(&other, stream, 1);
    if (backward) model.Backward(&other, &stream, Ignore);
  }
  EXPECT_EQ(pass(), fresh);
}

TEST_P(AnyBiases, CheckpointingChangesNoBit) {
  GptWeights weights(config(), {0, 4});
  weights.Initialize(1);
  std::vector<float> kept;
  std::vector<float> again;
  const double loss =
      WholePass(&weights, &kept, GptStage::Checkpointing::kNone);
  EXPECT_EQ(WholePass(&weights, &again, GptStage::Checkpointing::kBlocks),
            loss);
  EXPECT_EQ(kept, again);
}

// Two stages, with the backward pass in two parts, give the same results as the
// whole model. Only the gradient of the token table differs, because each stage
// computes a part of it.
TEST_P(AnyBiases, StagesTogetherAreTheModel) {
  GptWeights whole(config(), {0, 4});
  whole.Initialize(1);
  std::vector<float> expected;
  const double expected_loss =
      WholePass(&whole, &expected, GptStage::Checkpointing::kNone);

  GptWeights first(config(), {0, 1});
  GptWeights second(config(), {1, 4});
  first.Initialize(1);
  second.Initialize(1);
  const GptStage front(first, kBatch, kTime);
  const GptStage back(second, kBatch, kTime);
  GptMicroBatch at_front = Tokens();
  GptMicroBatch at_back = Tokens();
  std::vector<float> stream;
  front.Forward(&at_front, &stream);
  back.Forward(&at_back, &stream);
  EXPECT_EQ(back.Loss(&at_back, stream, 1), expected_loss);
  std::vector<float> gradient;
  back.BackwardInput(&at_back, &gradient);
  front.BackwardInput(&at_front, &gradient);
  front.BackwardWeight(&at_front, Ignore);
  back.BackwardWeight(&at_back, Ignore);

  for (size_t i = 0; i < whole.tensors().size(); ++i) {
    const GptTensor& tensor = whole.tensors()[i];
    const GptWeight in_first = first.Find(tensor.name);
    const GptWeight in_second = second.Find(tensor.name);
    for (int64_t k = 0; k < tensor.count(); ++k) {
      float sum = 0;
      if (in_first.gradient != nullptr) sum += in_first.gradient[k];
      if (in_second.gradient != nullptr) sum += in_second.gradient[k];
      const float got = whole.gradient(static_cast<int>(i))[k];
      if (in_first.gradient == nullptr || in_second.gradient == nullptr) {
        ASSERT_EQ(sum, got) << tensor.name << "[" << k << "]";
        continue;
      }
      // The gradients of the token table are compared up to rounding. The whole
      // model adds the gradients of the embeddings and the head in one array;
      // here each stage has its own array, and the two arrays are added.
      const double magnitude =
          std::abs(in_first.gradient[k]) + std::abs(in_second.gradient[k]);
      ASSERT_NEAR(sum, got, RoundingBound<float>(kBatch * kTime, magnitude))
          << tensor.name << "[" << k << "]";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, AnyBiases,
                         testing::Values(GptConfig::Biases::kAll,
                                         GptConfig::Biases::kNone));

}  // namespace
}  // namespace muster::models
