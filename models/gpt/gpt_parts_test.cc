#include "models/gpt/gpt_parts.h"

#include <map>

#include "gtest/gtest.h"
#include "models/gpt/gpt_weights.h"

namespace muster::models {
namespace {

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

}  // namespace
}  // namespace muster::models
