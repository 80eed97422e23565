#include "models/text/tokens.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"

namespace muster::models {

absl::Status TokensInMemory::Read(int64_t begin, std::span<int32_t> out) const {
  const auto wanted = static_cast<int64_t>(out.size());
  if (begin < 0 || wanted > count() || begin > count() - wanted) {
    return absl::OutOfRangeError(
        absl::StrCat(wanted, " tokens from ", begin, " on, of ", count()));
  }
  std::copy_n(tokens_.begin() + begin, out.size(), out.begin());
  return absl::OkStatus();
}

}  // namespace muster::models
