#include "models/gpt/gpt_parts.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace muster::models {

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

}  // namespace muster::models
