// Writes and reads safetensors files for safetensors_oracle.py.
//
//   safetensors_files write PATH     writes a tensor of each type, and metadata
//   safetensors_files print PATH     prints a file's contents as lines of text
//   safetensors_files model FOLDER   writes a small GPT in Hugging Face's
//                                    format; prints its loss
//   safetensors_files loss PATH      prints that GPT's loss with the weights of
//                                    a file

#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "models/gpt/gpt_stage.h"
#include "models/gpt/hugging_face.h"
#include "trainer_sdk/safetensors/safetensors_file.h"

namespace muster {
namespace {

// Returns byte `i` of the test tensor of type `type`. Bytes below 60 give no
// NaN in any type.
char Byte(int type, size_t i) {
  return static_cast<char>((static_cast<size_t>(type) * 5 + i * 3) % 60);
}

absl::Status Write(const std::string& path) {
  std::vector<std::string> bytes(kSafetensorsTypes);
  std::vector<SafetensorsData> tensors;
  for (int i = 0; i < kSafetensorsTypes; ++i) {
    const auto type = static_cast<SafetensorsType>(i);
    const std::vector<int64_t> shape = {2, 4};
    const int64_t size = *BytesOf(type, shape);
    for (size_t k = 0; k < static_cast<size_t>(size); ++k) {
      bytes[static_cast<size_t>(i)].push_back(type == SafetensorsType::kBool
                                                  ? static_cast<char>(k % 2)
                                                  : Byte(i, k));
    }
    tensors.push_back(
        {Name(type), type, shape, bytes[static_cast<size_t>(i)].data()});
  }
  const float scalar = 2.5f;
  tensors.push_back(
      {"scalar \"\xc3\xa9\"", SafetensorsType::kF32, {}, &scalar});
  tensors.push_back({"empty", SafetensorsType::kI64, {3, 0, 2}, nullptr});
  return WriteSafetensorsFile(path, tensors,
                              {{"format", "pt"}, {"line\n", "\"\xc3\xa9\""}});
}

absl::Status Print(const std::string& path) {
  const auto file = SafetensorsFile::Open(path);
  if (!file.ok()) return file.status();
  for (const auto& [key, value] : (*file)->header().metadata) {
    std::cout << "metadata " << key << " " << value << "\n";
  }
  for (const SafetensorsTensor& tensor : (*file)->header().tensors) {
    std::string bytes(static_cast<size_t>(tensor.bytes()), '\0');
    absl::Status status = (*file)->Read(tensor, bytes.data());
    if (!status.ok()) return status;
    std::cout << tensor.name << " " << Name(tensor.type) << " ["
              << absl::StrJoin(tensor.shape, ",") << "] "
              << absl::BytesToHexString(bytes) << "\n";
  }
  return absl::OkStatus();
}

// Returns the loss for the same tokens as in safetensors_oracle.py.
double LossOf(models::GptWeights& weights) {
  constexpr int64_t kBatch = 2;
  constexpr int64_t kTime = 12;
  models::GptMicroBatch batch;
  for (int i = 0; i < kBatch * kTime; ++i) {
    batch.tokens.push_back(i * i % 31);
    // The target of each position is the next token.
    batch.targets.push_back((i + 1) * (i + 1) % 31);
  }
  const models::GptStage model(weights, kBatch, kTime);
  std::vector<float> stream;
  model.Forward(&batch, &stream);
  return model.LossOnly(&batch, stream);
}

absl::Status Run(const std::string& what, const std::string& path) {
  if (what == "write") return Write(path);
  if (what == "print") return Print(path);
  const models::GptConfig config = {
      .vocabulary = 31, .context = 20, .layers = 3, .heads = 4, .width = 32};
  models::GptWeights weights(config, {0, config.layers});
  absl::Status status;
  if (what == "model") {
    weights.Initialize(7);
    // Scale the initial weights up and add small values, so that every weight,
    // even each bias, affects the loss.
    for (int64_t i = 0; i < weights.count(); ++i) {
      weights.data()[i] =
          weights.data()[i] * 10 + 0.01f * static_cast<float>(i % 7 - 3);
    }
    status = models::WriteHuggingFaceModel(weights, path);
  } else {
    status = models::ReadHuggingFaceWeights(path, &weights);
  }
  if (status.ok()) std::printf("%.9g\n", LossOf(weights));
  return status;
}

}  // namespace
}  // namespace muster

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const absl::Status status = muster::Run(argv[1], argv[2]);
  if (!status.ok()) std::cerr << status << "\n";
  return status.ok() ? 0 : 1;
}
