// Computes a small GPT's loss and gradients, with the same weights and tokens
// as gpt_oracle.py. Prints a line with the loss, then each tensor's name and
// the values of its gradient.
//
//   gpt_gradients biases   a GPT with biases, as GPT-2 (Biases::kAll)
//   gpt_gradients none     a GPT without biases (Biases::kNone)

#include <cmath>
#include <cstdio>
#include <string>

#include "models/gpt/gpt_stage.h"

int main(int argc, char** argv) {
  constexpr int64_t kBatch = 3;
  constexpr int64_t kTime = 16;
  muster::models::GptConfig config{
      .vocabulary = 31, .context = 20, .layers = 3, .heads = 4, .width = 32};
  if (argc != 2) return 2;
  if (std::string(argv[1]) == "none") {
    config.biases = muster::models::GptConfig::Biases::kNone;
  }
  muster::models::GptWeights weights(config, {0, config.layers});
  for (size_t i = 0; i < weights.tensors().size(); ++i) {
    const muster::models::GptTensor& tensor = weights.tensors()[i];
    float* const values = weights.value(static_cast<int>(i));
    // Set the weights of a layer norm to values around 1, and all other
    // parameters to values around 0.
    const bool norm = tensor.shape.size() == 1 &&
                      tensor.name.find(".weight") != std::string::npos;
    for (int64_t k = 0; k < tensor.count(); ++k) {
      const auto n = static_cast<double>(k);
      const double wave =
          std::sin(1.7 * n + 0.013 * n * n + static_cast<double>(i));
      values[k] = static_cast<float>((norm ? 1 : 0) + 0.2 * wave);
    }
  }
  muster::models::GptMicroBatch batch;
  for (int i = 0; i < kBatch * kTime; ++i) {
    batch.tokens.push_back(i * i % 31);
    batch.targets.push_back((i * 7 + 3) % 31);
  }
  const muster::models::GptStage model(weights, kBatch, kTime);
  std::vector<float> stream;
  model.Forward(&batch, &stream);
  std::printf("%.9g\n", model.Loss(&batch, stream, 1));
  model.Backward(&batch, &stream, [](int) {});
  for (size_t i = 0; i < weights.tensors().size(); ++i) {
    std::printf("%s", weights.tensors()[i].name.c_str());
    for (int64_t k = 0; k < weights.tensors()[i].count(); ++k) {
      std::printf(" %.9g", static_cast<double>(
                               weights.gradient(static_cast<int>(i))[k]));
    }
    std::printf("\n");
  }
  return 0;
}
