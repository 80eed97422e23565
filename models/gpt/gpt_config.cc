#include "models/gpt/gpt_config.h"

#include <cstdint>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace muster::models {
namespace {

constexpr int64_t kMax = int64_t{1} << 24;

// Collects the tensors of a model. AddNorm and AddLinear append ".weight" and
// ".bias" to the layer's name.
class Tensors {
 public:
  explicit Tensors(GptConfig::Biases biases) : biases_(biases) {}

  void Add(std::string name, std::vector<int64_t> shape) {
    all_.push_back({std::move(name), std::move(shape)});
  }
  void AddNorm(const std::string& name, int64_t width) {
    Add(name + ".weight", {width});
    if (biases_ == GptConfig::Biases::kAll) Add(name + ".bias", {width});
  }
  void AddLinear(const std::string& name, int64_t in, int64_t out) {
    Add(name + ".weight", {in, out});
    if (biases_ == GptConfig::Biases::kAll) Add(name + ".bias", {out});
  }
  std::vector<GptTensor> Take() { return std::move(all_); }

 private:
  const GptConfig::Biases biases_;
  std::vector<GptTensor> all_;
};

}  // namespace

absl::Status GptConfig::Check() const {
  for (const auto& [what, value] :
       {std::pair("tokens in the vocabulary", vocabulary),
        std::pair("positions of context", context), std::pair("layers", layers),
        std::pair("heads", heads), std::pair("of width", width)}) {
    if (value < 1 || value > kMax) {
      return absl::InvalidArgumentError(
          absl::StrCat("a transformer with ", value, " ", what));
    }
  }
  if (width % heads != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(heads, " heads do not divide a width of ", width));
  }
  return absl::OkStatus();
}

int64_t GptTensor::count() const {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  return count;
}

int64_t GptConfig::Parameters() const {
  int64_t count = 0;
  for (const GptTensor& tensor : TensorsOf(*this, {0, layers})) {
    count += tensor.count();
  }
  return count;
}

double GptConfig::FlopsPerToken() const {
  const auto counted = static_cast<double>(Parameters() - context * width);
  return 6 * counted + 6.0 * static_cast<double>(layers) *
                           static_cast<double>(width) *
                           static_cast<double>(context);
}

std::vector<GptTensor> TensorsOf(const GptConfig& config, GptLayers layers) {
  const int64_t width = config.width;
  Tensors tensors(config.biases);
  if (layers.first == 0) {
    tensors.Add("transformer.wte.weight", {config.vocabulary, width});
    tensors.Add("transformer.wpe.weight", {config.context, width});
  }
  for (int64_t layer = layers.first; layer < layers.last; ++layer) {
    const std::string h = absl::StrCat("transformer.h.", layer, ".");
    tensors.AddNorm(h + "ln_1", width);
    tensors.AddLinear(h + "attn.c_attn", width, 3 * width);
    tensors.AddLinear(h + "attn.c_proj", width, width);
    tensors.AddNorm(h + "ln_2", width);
    tensors.AddLinear(h + "mlp.c_fc", width, 4 * width);
    tensors.AddLinear(h + "mlp.c_proj", 4 * width, width);
  }
  if (layers.last == config.layers) {
    tensors.AddNorm("transformer.ln_f", width);
    if (layers.first != 0) {
      tensors.Add("transformer.wte.weight", {config.vocabulary, width});
    }
  }
  return tensors.Take();
}

std::vector<std::string> GptPartNames(const GptConfig& config) {
  std::vector<std::string> names = {"embeddings"};
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    names.push_back(absl::StrCat("block ", layer));
  }
  names.push_back("head");
  return names;
}

std::vector<int64_t> GptPartsOf(const std::vector<GptTensor>& tensors,
                                const GptConfig& config) {
  std::vector<int64_t> parts;
  for (const GptTensor& tensor : tensors) {
    absl::string_view name = tensor.name;
    int64_t layer = 0;
    if (absl::ConsumePrefix(&name, "transformer.h.")) {
      if (!absl::SimpleAtoi(name.substr(0, name.find('.')), &layer)) layer = -1;
      parts.push_back(layer + 1);
    } else {
      const bool is_head = absl::ConsumePrefix(&name, "transformer.ln_f.");
      parts.push_back(is_head ? config.layers + 1 : 0);
    }
  }
  return parts;
}

absl::StatusOr<std::vector<GptLayers>> SplitLayers(const GptConfig& config,
                                                   int stages) {
  if (stages < 1 || config.layers < stages) {
    return absl::InvalidArgumentError(
        absl::StrCat(config.layers, " layers cannot be split over ", stages,
                     " stages: each needs one"));
  }
  std::vector<GptLayers> split;
  int64_t first = 0;
  for (int stage = 0; stage < stages; ++stage) {
    const int64_t more = stage < config.layers % stages ? 1 : 0;
    const int64_t last = first + config.layers / stages + more;
    split.push_back({first, last});
    first = last;
  }
  return split;
}

}  // namespace muster::models
