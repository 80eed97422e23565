#include "agent/gpus/gpu_list.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace muster::agent {
namespace {

std::vector<std::string_view> SplitAtCommas(std::string_view text) {
  std::vector<std::string_view> words;
  while (true) {
    const size_t comma = text.find(',');
    std::string_view word = text.substr(0, comma);
    const size_t begin = std::min(word.find_first_not_of(" \t"), word.size());
    word.remove_prefix(begin);
    word = word.substr(0, word.find_last_not_of(" \t") + 1);
    words.push_back(word);
    if (comma == std::string_view::npos) return words;
    text.remove_prefix(comma + 1);
  }
}

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

// The index in `ids` of the id that equals `word`. If there is none, the index
// of the only id that begins with `word`. -1: no id begins with `word`, or
// several do.
int FindId(std::string_view word, const std::vector<std::string>& ids) {
  int found = -1;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] == word) return static_cast<int>(i);
    if (!StartsWith(ids[i], word)) continue;
    if (found >= 0) return -1;
    found = static_cast<int>(i);
  }
  return found;
}

// The index of the device that `word` names; -1: no such device. `ids`: the ids
// of all devices of this kind (GPU or MIG instance), or null. If `ids` is
// given, `word` is an id. If `ids` is null, `word` is a number below `count`.
int FindDevice(std::string_view word, const std::vector<std::string>* ids,
               size_t count) {
  if (ids != nullptr) return FindId(word, *ids);
  if (StartsWith(word, "+")) word.remove_prefix(1);
  int index = -1;
  std::from_chars(word.data(), word.data() + word.size(), index);
  return index >= 0 && static_cast<size_t>(index) < count ? index : -1;
}

std::vector<std::string> EveryGpu(const std::vector<Gpu>& gpus) {
  std::vector<std::string> all;
  for (size_t i = 0; i < gpus.size(); ++i) {
    const auto& instances = gpus[i].mig_instances;
    if (instances.empty()) {
      all.push_back(std::to_string(i));
    } else {
      all.insert(all.end(), instances.begin(), instances.end());
    }
  }
  return all;
}

}  // namespace

std::vector<std::string> VisibleGpus(
    const std::optional<std::string>& cuda_visible_devices,
    const std::vector<Gpu>& gpus) {
  if (!cuda_visible_devices) return EveryGpu(gpus);
  const auto words = SplitAtCommas(*cuda_visible_devices);
  std::vector<std::string> ids;
  for (const Gpu& gpu : gpus) {
    if (StartsWith(words[0], "GPU-")) {
      ids.push_back(gpu.uuid);
    } else if (StartsWith(words[0], "MIG-")) {
      ids.insert(ids.end(), gpu.mig_instances.begin(), gpu.mig_instances.end());
    }
  }
  const bool by_id =
      StartsWith(words[0], "GPU-") || StartsWith(words[0], "MIG-");
  std::vector<int> devices;
  std::vector<std::string> visible;
  for (const std::string_view word : words) {
    const int device = FindDevice(word, by_id ? &ids : nullptr, gpus.size());
    if (device < 0) break;
    if (std::count(devices.begin(), devices.end(), device) > 0) return {};
    devices.push_back(device);
    // CUDA uses only the leading digits of a word: "1gpu" is GPU 1. So the
    // result contains the number, not the word.
    visible.push_back(by_id ? std::string(word) : std::to_string(device));
  }
  return visible;
}

std::vector<std::string> PciAddresses(const std::vector<std::string>& visible,
                                      const std::vector<Gpu>& gpus) {
  std::vector<std::string> ids;  // UUIDs of GPUs and MIG instances
  std::vector<size_t> gpu_of_id;
  for (size_t i = 0; i < gpus.size(); ++i) {
    ids.push_back(gpus[i].uuid);
    ids.insert(ids.end(), gpus[i].mig_instances.begin(),
               gpus[i].mig_instances.end());
    gpu_of_id.resize(ids.size(), i);
  }
  std::vector<std::string> addresses;
  for (const std::string& word : visible) {
    const bool by_id = StartsWith(word, "GPU-") || StartsWith(word, "MIG-");
    const int found = FindDevice(word, by_id ? &ids : nullptr, gpus.size());
    if (found < 0) {
      addresses.emplace_back();
      continue;
    }
    const size_t at = static_cast<size_t>(found);
    addresses.push_back(gpus[by_id ? gpu_of_id[at] : at].pci_address);
  }
  return addresses;
}

}  // namespace muster::agent
