#include "models/text/vocabulary.h"

#include "absl/strings/str_cat.h"
#include "base/fnv_hash.h"

namespace muster::models {

std::string Vocabulary::Describe() const {
  const uint64_t hash = FnvHashOf(Serialize());
  return absl::StrCat(
      kind(), ", ", size(), " tokens (",
      absl::Hex(static_cast<uint32_t>(hash ^ hash >> 32), absl::kZeroPad8),
      ")");
}

}  // namespace muster::models
