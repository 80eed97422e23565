#include "launcher/config/instructlab_config.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/nearest_name.h"

namespace muster::launcher {
namespace {

constexpr char kTrain[] = "train";
constexpr char kMoreArguments[] = "additional_args";

// The key for the rank of a LoRA adapter. Its name resembles node_rank, but
// ReadSection must not reject it as a misspelled node_rank.
constexpr char kLoraRank[] = "lora_rank";

const std::vector<std::string>& TorchrunKeys() {
  static const auto& keys = *new std::vector<std::string>{
      "nproc_per_node", "nnodes",      "node_rank",  "rdzv_id",
      "rdzv_endpoint",  "master_addr", "master_port"};
  return keys;
}

bool GoesToTorchrun(const std::string& key) {
  const auto& keys = TorchrunKeys();
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

absl::Status Refuse(const ConfigSurroundings& surroundings, int line,
                    const std::string& why) {
  return absl::InvalidArgumentError(
      absl::StrCat(surroundings.file_name, ":", line, ": ", why));
}

absl::Status ReadSection(const YamlValue& section, const std::string& path,
                         const ConfigSurroundings& surroundings,
                         ConfigMeaning& meaning) {
  for (const YamlEntry& entry : section.entries) {
    const std::string key = absl::StrCat(path, ".", entry.key);
    if (entry.key == kMoreArguments &&
        entry.value.kind == YamlValue::Kind::kMap) {
      const absl::Status read =
          ReadSection(entry.value, key, surroundings, meaning);
      if (!read.ok()) return read;
      continue;
    }
    if (!GoesToTorchrun(entry.key)) {
      const std::string nearest = NearestName(entry.key, TorchrunKeys());
      if (!nearest.empty() && entry.key != kLoraRank) {
        return Refuse(
            surroundings, entry.line,
            absl::StrCat(key, ": unknown key; did you mean ", nearest, "?"));
      }
      meaning.ignored.push_back(
          {key, entry.line, "InstructLab's training program reads it"});
      continue;
    }
    if (entry.value.kind == YamlValue::Kind::kNull) continue;
    if (entry.value.kind != YamlValue::Kind::kScalar) {
      return Refuse(surroundings, entry.line, absl::StrCat(key, ": no text"));
    }
    std::string flag = entry.key;
    std::replace(flag.begin(), flag.end(), '_', '-');
    // An entry replaces an earlier entry with the same key, even if one is in
    // `train:` and one in `additional_args:`. (InstructLab itself always
    // prefers the entry in `additional_args:`.)
    meaning.defaults.flags[flag] = {OriginOf(surroundings, entry.line, key),
                                    entry.value.text};
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ConfigMeaning> ReadInstructLabConfig(
    const YamlValue& document, const ConfigSurroundings& surroundings) {
  ConfigMeaning meaning;
  meaning.format = ConfigFormat::kInstructLab;
  for (const YamlEntry& entry : document.entries) {
    if (entry.key != kTrain) {
      meaning.ignored.push_back(
          {entry.key, entry.line, "only train: concerns launching"});
      continue;
    }
    const absl::Status read =
        ReadSection(entry.value, kTrain, surroundings, meaning);
    if (!read.ok()) return read;
  }
  auto& flags = meaning.defaults.flags;
  const auto endpoint = flags.find("rdzv-endpoint");
  const auto address = flags.find("master-addr");
  if (endpoint != flags.end() && address != flags.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat(endpoint->second.origin,
                     ": does not go with master_addr; InstructLab "
                     "takes one of them"));
  }
  if (address != flags.end()) {
    flags["rdzv-backend"] = {address->second.origin, "static"};
  }
  return meaning;
}

}  // namespace muster::launcher
