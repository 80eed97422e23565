#include "models/gpt/gpt_config.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster::models {
namespace {

using ::testing::HasSubstr;

TEST(GptConfigTest, TheSmallestGpt2Has124Million) {
  EXPECT_EQ(GptConfig().Parameters(), 124'439'808);
}

TEST(GptConfigTest, OperationsArePerTokenAndPass) {
  // 6 (N - position table) + 6 L C T.
  EXPECT_EQ(GptConfig().FlopsPerToken(),
            6.0 * (124'439'808 - 1024 * 768) + 6.0 * 12 * 768 * 1024);
}

TEST(GptConfigTest, WithoutBiasesTensorsAreFewer) {
  GptConfig config;
  const size_t with = TensorsOf(config, {0, 12}).size();
  config.biases = GptConfig::Biases::kNone;
  EXPECT_EQ(with, 2 + 12 * 12 + 2u);
  EXPECT_EQ(TensorsOf(config, {0, 12}).size(), 2 + 12 * 6 + 1u);
}

TEST(GptConfigTest, TensorsHaveTheNamesAndShapesOfHuggingFace) {
  const auto tensors = TensorsOf(GptConfig(), {0, 12});
  EXPECT_EQ(tensors[0].name, "transformer.wte.weight");
  EXPECT_EQ(tensors[4].name, "transformer.h.0.attn.c_attn.weight");
  EXPECT_THAT(tensors[4].shape, testing::ElementsAre(768, 2304));
  EXPECT_EQ(tensors.back().name, "transformer.ln_f.bias");
}

TEST(GptConfigTest, TheLastStageHasItsOwnTable) {
  const GptConfig config;
  EXPECT_EQ(TensorsOf(config, {6, 12}).back().name, "transformer.wte.weight");
  EXPECT_EQ(TensorsOf(config, {3, 6}).size(), 3 * 12u);
}

TEST(GptConfigTest, RefusesWhatIsNoTransformer) {
  EXPECT_TRUE(GptConfig().Check().ok());
  const auto refusal = [](const GptConfig& config) {
    return std::string(config.Check().message());
  };
  EXPECT_THAT(refusal({.heads = 5}),
              HasSubstr("5 heads do not divide a width of 768"));
  EXPECT_THAT(refusal({.layers = 0}), HasSubstr("with 0 layers"));
  EXPECT_THAT(refusal({.vocabulary = -1}), HasSubstr("-1 tokens"));
  EXPECT_THAT(refusal({.context = 0}), HasSubstr("0 positions"));
  EXPECT_THAT(refusal({.width = int64_t{1} << 40}), HasSubstr("of width"));
}

}  // namespace
}  // namespace muster::models
