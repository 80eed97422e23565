#include "agent/health/wording.h"

#include <algorithm>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "agent/health/small_file.h"

namespace muster::agent {

std::string SizeText(int64_t bytes) {
  char text[32];
  if (bytes >= int64_t{1} << 30) {
    std::snprintf(text, sizeof(text), "%.1f GiB",
                  static_cast<double>(bytes) / (int64_t{1} << 30));
  } else if (bytes >= 1 << 20) {
    std::snprintf(text, sizeof(text), "%lld MiB",
                  static_cast<long long>(bytes >> 20));
  } else {
    std::snprintf(text, sizeof(text), "%lld KiB",
                  static_cast<long long>(bytes >> 10));
  }
  return text;
}

std::string CudaText(int version) {
  return absl::StrCat(version / 1000, ".", version % 1000 / 10);
}

int CudaNumber(const std::string& text) {
  const auto major = LeadingNumber(text);
  const size_t dot = text.find('.');
  if (!major || *major <= 0 || *major > 1000) return 0;
  const auto minor = dot == std::string::npos
                         ? std::nullopt
                         : LeadingNumber(text.substr(dot + 1));
  return static_cast<int>(*major * 1000 +
                          std::clamp<int64_t>(minor.value_or(0), 0, 99) * 10);
}

std::string Listed(const std::vector<std::string>& words, size_t most) {
  std::string text;
  for (size_t i = 0; i < std::min(words.size(), most); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ", words[i]);
  }
  if (words.size() > most) {
    absl::StrAppend(&text, " and ", words.size() - most, " more");
  }
  return text;
}

std::string GpusText(const std::vector<int>& indices) {
  std::vector<std::string> runs;
  for (size_t i = 0; i < indices.size();) {
    size_t last = i;
    while (last + 1 < indices.size() &&
           indices[last + 1] == indices[last] + 1) {
      ++last;
    }
    runs.push_back(last == i ? absl::StrCat(indices[i])
                             : absl::StrCat(indices[i], "-", indices[last]));
    i = last + 1;
  }
  return absl::StrCat(indices.size() == 1 ? "GPU " : "GPUs ", Listed(runs));
}

}  // namespace muster::agent
