#include "trainer_sdk/progress/progress_message.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace muster {
namespace {

constexpr size_t kStatusBytes = 256;

// A prefix of `text` of at most `bytes` bytes that ends between two UTF-8
// characters.
std::string Cut(const std::string& text, size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (text[bytes] & 0xC0) == 0x80) --bytes;
  return text.substr(0, bytes);
}

std::string OneLine(std::string text) {
  std::replace_if(
      text.begin(), text.end(),
      [](char c) { return c == '\n' || c == '\r' || c == '\0'; }, ' ');
  return text;
}

}  // namespace

std::string ProgressMessage(const ProgressUpdate& update) {
  std::string text;
  if (update.step) absl::StrAppend(&text, "STEP=", *update.step, "\n");
  if (update.loss) absl::StrAppendFormat(&text, "LOSS=%.9g\n", *update.loss);
  if (update.tokens_per_second) {
    absl::StrAppendFormat(&text, "TOKENS_PER_S=%.9g\n",
                          *update.tokens_per_second);
  }
  if (update.watchdog) {
    absl::StrAppendFormat(&text, "WATCHDOG_S=%.9g\n",
                          ToSeconds(*update.watchdog));
  }
  if (update.status) {
    absl::StrAppend(
        &text, "STATUS=", OneLine(Cut(*update.status, kStatusBytes)), "\n");
  }
  return text.empty() ? "WATCHDOG=1\n" : text;
}

}  // namespace muster
