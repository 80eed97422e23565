#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "agent/health/examine_environment.h"
#include "agent/health/small_file.h"
#include "agent/health/wording.h"

namespace muster::agent {
namespace {

std::vector<std::string> Words(const std::string& visible) {
  std::vector<std::string> words;
  for (const auto word : absl::StrSplit(visible, ',')) {
    words.emplace_back(absl::StripAsciiWhitespace(word));
  }
  return words;
}

// The index of the GPU that `word` names (an index, a UUID or a prefix of one);
// -1: none.
int IndexOf(const std::string& word, const GpuFacts& gpus) {
  if (absl::StartsWith(word, "GPU-")) {
    for (const GpuDevice& gpu : gpus.devices) {
      if (absl::StartsWith(gpu.uuid, word)) return gpu.index;
    }
    return -1;
  }
  const auto number = LeadingNumber(word);
  if (!number || *number < 0 ||
      *number >= static_cast<int64_t>(gpus.devices.size())) {
    return -1;
  }
  return static_cast<int>(*number);
}

bool NamesInstances(const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return absl::StartsWith(word, "MIG-");
  });
}

bool HidesAll(const std::vector<std::string>& words) {
  const std::string& first = words.front();
  return first.empty() || first == "-1" || first == "NoDevFiles" ||
         first == "none";
}

}  // namespace

std::vector<Finding> ExamineVisibleGpus(
    const std::optional<std::string>& visible, const GpuFacts& gpus) {
  if (!visible || gpus.devices.empty()) return {};
  const std::vector<std::string> words = Words(*visible);
  if (HidesAll(words)) {
    return {Found("cuda-visible-empty",
                  absl::StrCat("CUDA_VISIBLE_DEVICES=", *visible, " hides all ",
                               gpus.devices.size(), " GPUs"))};
  }
  // MIG instances are not checked here; only NVML knows their ids.
  if (NamesInstances(words)) return {};
  std::vector<int> seen;
  std::vector<std::string> missing, twice;
  for (const std::string& word : words) {
    const int index = IndexOf(word, gpus);
    if (index < 0) {
      missing.push_back(word.empty() ? "an empty name" : word);
    } else if (std::count(seen.begin(), seen.end(), index) > 0) {
      twice.push_back(word);
    }
    seen.push_back(index);
  }
  std::vector<Finding> findings;
  if (!missing.empty()) {
    findings.push_back(
        Found("cuda-visible-missing",
              absl::StrCat("CUDA_VISIBLE_DEVICES=", *visible, " names ",
                           Listed(missing), "; there are ", gpus.devices.size(),
                           " GPUs")));
  }
  if (!twice.empty()) {
    findings.push_back(Found("cuda-visible-twice",
                             absl::StrCat("CUDA_VISIBLE_DEVICES=", *visible,
                                          " names ", Listed(twice), " twice")));
  }
  return findings;
}

int NamedGpus(const std::optional<std::string>& visible) {
  if (!visible) return 0;
  const std::vector<std::string> words = Words(*visible);
  return HidesAll(words) ? 0 : static_cast<int>(words.size());
}

GpuFacts OnlyVisible(const std::optional<std::string>& visible, GpuFacts gpus) {
  if (!visible) return gpus;
  const std::vector<std::string> words = Words(*visible);
  if (HidesAll(words) || NamesInstances(words)) return gpus;
  std::vector<int> kept;
  for (const std::string& word : words) kept.push_back(IndexOf(word, gpus));
  std::vector<GpuDevice> devices;
  for (GpuDevice& gpu : gpus.devices) {
    if (std::count(kept.begin(), kept.end(), gpu.index) > 0) {
      devices.push_back(std::move(gpu));
    }
  }
  gpus.devices = std::move(devices);
  return gpus;
}

}  // namespace muster::agent
