#include "models/gpt/hugging_face.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "trainer_sdk/files/file_system.h"
#include "trainer_sdk/reduce/reduce.h"
#include "trainer_sdk/safetensors/safetensors_file.h"

namespace muster::models {
namespace {

constexpr std::string_view kPrefix = "transformer.";

// Adds the prefix "transformer." of GPT2LMHeadModel to a tensor's name if it is
// missing. GPT-2's published files lack the prefix.
std::string FullName(const std::string& name) {
  if (name.rfind(kPrefix, 0) == 0 || name == "lm_head.weight") return name;
  return absl::StrCat(std::string(kPrefix), name);
}

// Whether a tensor of Hugging Face's files has no counterpart in GptWeights:
// the head, which is the token table, and the constant masks of attention.
bool IsNoWeight(const std::string& name) {
  return name == "lm_head.weight" || name.ends_with(".attn.bias") ||
         name.ends_with(".attn.masked_bias");
}

absl::Status Wrong(const std::string& path, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", what));
}

std::string ShapeText(const std::vector<int64_t>& shape) {
  return absl::StrCat("[", absl::StrJoin(shape, ", "), "]");
}

nlohmann::ordered_json ConfigOf(const GptConfig& config) {
  return {{"architectures", {"GPT2LMHeadModel"}},
          {"model_type", "gpt2"},
          {"vocab_size", config.vocabulary},
          {"n_positions", config.context},
          {"n_ctx", config.context},
          {"n_embd", config.width},
          {"n_layer", config.layers},
          {"n_head", config.heads},
          {"activation_function", "gelu_new"},
          {"layer_norm_epsilon", 1e-5},
          {"resid_pdrop", 0.0},
          {"embd_pdrop", 0.0},
          {"attn_pdrop", 0.0},
          // null, because a vocabulary of characters has no tokens for the
          // beginning and the end of a text
          {"bos_token_id", nullptr},
          {"eos_token_id", nullptr},
          {"tie_word_embeddings", true}};
}

absl::Status WriteConfig(const GptConfig& config, const std::string& path) {
  auto file = Disk().CreateFile(path);
  if (!file.ok()) return file.status();
  const absl::Status status =
      (*file)->Append(absl::StrCat(ConfigOf(config).dump(2), "\n"));
  return status.ok() ? (*file)->Sync() : status;
}

absl::Status ReadTensor(const SafetensorsFile& file,
                        const SafetensorsTensor& tensor, float* out) {
  const std::optional<DType> type = DTypeOf(tensor.type);
  if (type == DType::kFloat32) return file.Read(tensor, out);
  if (type != DType::kFloat16 && type != DType::kBFloat16) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", tensor.name, "' is of type ", Name(tensor.type),
                     ", not F32, F16 or BF16"));
  }
  std::vector<uint16_t> narrow(static_cast<size_t>(tensor.bytes() / 2));
  absl::Status status = file.Read(tensor, narrow.data());
  if (!status.ok()) return status;
  Widen(*type, narrow.data(), out, static_cast<int64_t>(narrow.size()));
  return absl::OkStatus();
}

}  // namespace

absl::Status WriteHuggingFaceModel(const GptWeights& weights,
                                   const std::string& folder) {
  GptConfig config = weights.config();
  // GPT2LMHeadModel always has all biases, so all are written.
  config.biases = GptConfig::Biases::kAll;
  const std::vector<GptTensor> tensors = TensorsOf(config, {0, config.layers});
  int64_t longest = 0;
  for (const GptTensor& tensor : tensors) {
    longest = std::max(longest, tensor.shape[0]);
  }
  // The zeros that are written for each bias that the model does not have.
  const std::vector<float> zeros(
      static_cast<size_t>(std::max(longest, 4 * config.width)));
  std::vector<SafetensorsData> data;
  for (const GptTensor& tensor : tensors) {
    const float* const value = weights.Find(tensor.name).value;
    data.push_back({.name = tensor.name,
                    .shape = tensor.shape,
                    .data = value != nullptr ? value : zeros.data()});
  }
  absl::Status status = Disk().CreateFolders(folder);
  if (status.ok()) {
    status = WriteSafetensorsFile(folder + "/model.safetensors", data,
                                  {{"format", "pt"}});
  }
  if (!status.ok()) return status;
  const std::string path = folder + "/config.json";
  status = Disk().Remove(path);
  return status.ok() ? WriteConfig(config, path) : status;
}

absl::Status ReadHuggingFaceWeights(const std::string& path,
                                    GptWeights* weights) {
  const auto file = SafetensorsFile::Open(path);
  if (!file.ok()) return file.status();
  std::set<std::string> wanted;
  for (const GptTensor& tensor : weights->tensors()) wanted.insert(tensor.name);
  std::set<std::string> elsewhere;
  for (const GptTensor& tensor :
       TensorsOf(weights->config(), {0, weights->config().layers})) {
    elsewhere.insert(tensor.name);
  }
  for (const SafetensorsTensor& tensor : (*file)->header().tensors) {
    const std::string name = FullName(tensor.name);
    const auto at = wanted.find(name);
    if (at == wanted.end()) {
      if (IsNoWeight(name) || elsewhere.count(name) > 0) continue;
      const bool bias = weights->config().biases == GptConfig::Biases::kNone &&
                        name.ends_with(".bias");
      return Wrong(
          path, absl::StrCat("it has '", tensor.name, "', and the model has ",
                             bias ? "no biases (gpt train --biases)"
                                  : "no such weight"));
    }
    const int index = weights->Find(name).index;
    const GptTensor& is = weights->tensors()[index];
    if (is.shape != tensor.shape) {
      return Wrong(
          path, absl::StrCat("'", tensor.name, "' is ", ShapeText(tensor.shape),
                             ", in the model ", ShapeText(is.shape)));
    }
    const absl::Status status =
        ReadTensor(**file, tensor, weights->value(index));
    if (!status.ok()) {
      return absl::Status(status.code(),
                          absl::StrCat(path, ": ", status.message()));
    }
    wanted.erase(at);
  }
  if (wanted.empty()) return absl::OkStatus();
  return Wrong(path, absl::StrCat("it has no '", *wanted.begin(), "'",
                                  wanted.size() > 1 ? " and other weights" : "",
                                  " of the model"));
}

}  // namespace muster::models
