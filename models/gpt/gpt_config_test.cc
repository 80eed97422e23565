#include "models/gpt/gpt_config.h"

#include <map>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/gpt/gpt_weights.h"

namespace muster::models {
namespace {

using ::testing::HasSubstr;

TEST(GptConfigTest, TheSmallestGpt2Has124Million) {
  EXPECT_EQ(GptConfig().Parameters(), 124'439'808);
}

TEST(GptConfigTest, OperationsArePerTokenAndPass) {
  // The formula is 6 N + 6 L C T, where N is the number of parameters except
  // those of the position table, L the number of layers, C the width and T the
  // context.
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

TEST(GptPartsTest, EachTensorIsInOne) {
  const GptConfig config{
      .vocabulary = 5, .context = 3, .layers = 11, .heads = 1, .width = 2};
  const std::vector<std::string> names = GptPartNames(config);
  ASSERT_EQ(names.size(), 13u);
  const GptWeights weights(config, {0, config.layers});
  const auto parts = GptPartsOf(weights.tensors(), config);
  ASSERT_EQ(parts.size(), weights.tensors().size());
  std::map<std::string, std::string> part_of;
  for (size_t i = 0; i < parts.size(); ++i) {
    part_of[weights.tensors()[i].name] = names.at(parts[i]);
  }
  EXPECT_EQ(part_of["transformer.wte.weight"], "embeddings");
  EXPECT_EQ(part_of["transformer.wpe.weight"], "embeddings");
  EXPECT_EQ(part_of["transformer.h.0.ln_1.weight"], "block 0");
  EXPECT_EQ(part_of["transformer.h.10.mlp.c_fc.weight"], "block 10");
  EXPECT_EQ(part_of["transformer.ln_f.bias"], "head");
}

using ::testing::ElementsAre;
using ::testing::Pair;

std::vector<std::pair<int64_t, int64_t>> Split(int64_t layers, int stages) {
  const auto split = SplitLayers({.layers = layers}, stages);
  EXPECT_TRUE(split.ok()) << split.status();
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (const GptLayers& part : *split)
    pairs.emplace_back(part.first, part.last);
  return pairs;
}

TEST(LayerSplitTest, IsEven) {
  EXPECT_THAT(Split(4, 1), ElementsAre(Pair(0, 4)));
  EXPECT_THAT(Split(6, 3), ElementsAre(Pair(0, 2), Pair(2, 4), Pair(4, 6)));
}

TEST(LayerSplitTest, TheFirstHaveMore) {
  EXPECT_THAT(Split(8, 3), ElementsAre(Pair(0, 3), Pair(3, 6), Pair(6, 8)));
  EXPECT_THAT(Split(4, 3), ElementsAre(Pair(0, 2), Pair(2, 3), Pair(3, 4)));
}

TEST(LayerSplitTest, EachStageNeedsALayer) {
  EXPECT_EQ(SplitLayers({.layers = 4}, 5).status().message(),
            "4 layers cannot be split over 5 stages: each needs one");
  EXPECT_FALSE(SplitLayers({.layers = 4}, 0).ok());
}

}  // namespace
}  // namespace muster::models
