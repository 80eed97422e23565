#include "models/trainer/text/text_fingerprint.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/checksum.h"

namespace muster::models {
namespace {

constexpr int64_t kWindow = 16 << 10;
constexpr int64_t kWindows = 256;

}  // namespace

absl::StatusOr<std::string> TextFingerprint(const GptText& text) {
  const Tokens& tokens = *text.tokens;
  const int64_t count = tokens.count();
  // Contiguous windows that cover the text, or the maximum number.
  const int64_t windows = std::min(kWindows, (count + kWindow - 1) / kWindow);
  const int64_t last = std::max(int64_t{0}, count - kWindow);
  Checksum checksum;
  checksum.Add(text.vocabulary->Serialize());
  std::vector<int32_t> window(static_cast<size_t>(std::min(kWindow, count)));
  for (int64_t i = 0; i < windows; ++i) {
    // The windows span the text from end to end; if they cover it, they
    // overlap.
    const int64_t begin = windows == 1 ? 0 : last * i / (windows - 1);
    if (absl::Status status = tokens.Read(begin, window); !status.ok()) {
      return status;
    }
    checksum.Add({reinterpret_cast<const char*>(window.data()),
                  window.size() * sizeof(window[0])});
  }
  return absl::StrCat(count, " tokens (", ChecksumText(checksum.value()), ")");
}

}  // namespace muster::models
