#include "models/gpt/layer_split.h"

#include <cstdint>

#include "absl/strings/str_cat.h"

namespace muster::models {

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
