#include "models/gpt/hugging_face.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/testing/rounding.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "trainer_sdk/reduce/reduce.h"
#include "trainer_sdk/safetensors/safetensors_file.h"

namespace muster::models {
namespace {

using ::testing::HasSubstr;

GptConfig Config(GptConfig::Biases biases) {
  return {.vocabulary = 11,
          .context = 6,
          .layers = 2,
          .heads = 2,
          .width = 8,
          .biases = biases};
}

class HuggingFace : public testing::Test {
 protected:
  HuggingFace() {
    std::string pattern = testing::TempDir() + "/hfXXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~HuggingFace() override { std::filesystem::remove_all(folder_); }
  std::string ModelFile() const { return folder_ + "/model.safetensors"; }
  std::string folder_;
};

std::vector<float> All(const GptWeights& weights) {
  return {weights.data(), weights.data() + weights.count()};
}

TEST_F(HuggingFace, WrittenModelIsReadBack) {
  GptWeights written(Config(GptConfig::Biases::kAll), {0, 2});
  written.Initialize(5);
  ASSERT_TRUE(WriteHuggingFaceModel(written, folder_).ok());
  GptWeights read(Config(GptConfig::Biases::kAll), {0, 2});
  const absl::Status status = ReadHuggingFaceWeights(ModelFile(), &read);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(All(read), All(written));
  // A second write replaces the existing files.
  EXPECT_TRUE(WriteHuggingFaceModel(written, folder_).ok());
}

TEST_F(HuggingFace, TheConfigurationIsTheModels) {
  const GptWeights weights(Config(GptConfig::Biases::kAll), {0, 2});
  ASSERT_TRUE(WriteHuggingFaceModel(weights, folder_ + "/made/here").ok());
  const nlohmann::json config =
      nlohmann::json::parse(std::ifstream(folder_ + "/made/here/config.json"));
  EXPECT_EQ(config["n_layer"], 2);
  EXPECT_EQ(config["n_head"], 2);
  EXPECT_EQ(config["n_embd"], 8);
  EXPECT_EQ(config["n_positions"], 6);
  EXPECT_EQ(config["vocab_size"], 11);
}

TEST_F(HuggingFace, AModelWithoutBiasesHasZerosThere) {
  GptWeights written(Config(GptConfig::Biases::kNone), {0, 2});
  written.Initialize(5);
  ASSERT_TRUE(WriteHuggingFaceModel(written, folder_).ok());
  GptWeights read(Config(GptConfig::Biases::kAll), {0, 2});
  read.Initialize(6);
  ASSERT_TRUE(ReadHuggingFaceWeights(ModelFile(), &read).ok());
  for (const GptTensor& tensor : read.tensors()) {
    const float* const expected = written.Find(tensor.name).value;
    for (int64_t i = 0; i < tensor.count(); ++i) {
      ASSERT_EQ(read.Find(tensor.name).value[i],
                expected == nullptr ? 0.0f : expected[i])
          << tensor.name;
    }
  }
}

TEST_F(HuggingFace, AStageTakesItsOwn) {
  GptWeights whole(Config(GptConfig::Biases::kAll), {0, 2});
  whole.Initialize(5);
  ASSERT_TRUE(WriteHuggingFaceModel(whole, folder_).ok());
  for (const GptLayers layers : {GptLayers{0, 1}, GptLayers{1, 2}}) {
    GptWeights stage(whole.config(), layers);
    ASSERT_TRUE(ReadHuggingFaceWeights(ModelFile(), &stage).ok());
    for (const GptTensor& tensor : stage.tensors()) {
      for (int64_t i = 0; i < tensor.count(); ++i) {
        ASSERT_EQ(stage.Find(tensor.name).value[i],
                  whole.Find(tensor.name).value[i])
            << tensor.name;
      }
    }
  }
}

// The reader must accept a file like GPT-2's own, whose names lack the prefix
// "transformer." and which contains attention masks. The tensors of this file
// have a 16-bit type.
TEST_F(HuggingFace, NamesWithoutPrefixAndNarrowTypesAreRead) {
  GptWeights whole(Config(GptConfig::Biases::kAll), {0, 2});
  whole.Initialize(5);
  std::vector<std::vector<uint16_t>> narrow;
  for (const GptTensor& tensor : whole.tensors()) {
    narrow.emplace_back(static_cast<size_t>(tensor.count()));
    Narrow(whole.Find(tensor.name).value, DType::kBFloat16,
           narrow.back().data(), tensor.count());
  }
  const std::vector<float> mask(36);
  std::vector<SafetensorsData> data = {
      {.name = "h.0.attn.bias", .shape = {1, 1, 6, 6}, .data = mask.data()}};
  for (size_t i = 0; i < narrow.size(); ++i) {
    data.push_back(
        {.name = whole.tensors()[i].name.substr(sizeof("transformer.") - 1),
         .type = SafetensorsType::kBF16,
         .shape = whole.tensors()[i].shape,
         .data = narrow[i].data()});
  }
  ASSERT_TRUE(WriteSafetensorsFile(ModelFile(), data, {}).ok());
  GptWeights read(whole.config(), {0, 2});
  const absl::Status status = ReadHuggingFaceWeights(ModelFile(), &read);
  ASSERT_TRUE(status.ok()) << status;
  for (int64_t i = 0; i < whole.count(); ++i) {
    EXPECT_NEAR(read.data()[i], whole.data()[i],
                kBfloat16Roundoff * std::abs(whole.data()[i]));
  }
}

TEST_F(HuggingFace, MismatchIsNamed) {
  GptWeights whole(Config(GptConfig::Biases::kAll), {0, 2});
  ASSERT_TRUE(WriteHuggingFaceModel(whole, folder_).ok());

  GptWeights no_biases(Config(GptConfig::Biases::kNone), {0, 2});
  EXPECT_THAT(ReadHuggingFaceWeights(ModelFile(), &no_biases).ToString(),
              HasSubstr("bias', and the model has no biases (gpt train "
                        "--biases)"));

  GptConfig shorter = whole.config();
  shorter.layers = 1;
  GptWeights one(shorter, {0, 1});
  EXPECT_THAT(ReadHuggingFaceWeights(ModelFile(), &one).ToString(),
              HasSubstr("', and the model has no such weight"));

  GptConfig config = whole.config();
  config.layers = 3;
  GptWeights longer(config, {0, 3});
  EXPECT_THAT(ReadHuggingFaceWeights(ModelFile(), &longer).ToString(),
              HasSubstr("it has no 'transformer.h.2."));

  config = whole.config();
  config.context = 7;
  GptWeights wider(config, {0, 2});
  EXPECT_THAT(ReadHuggingFaceWeights(ModelFile(), &wider).ToString(),
              HasSubstr("'transformer.wpe.weight' is [6, 8], in the model [7, "
                        "8]"));

  EXPECT_EQ(ReadHuggingFaceWeights(folder_ + "/none", &whole).code(),
            absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace muster::models
