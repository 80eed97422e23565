#include "launcher/config/config_file.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "base/bounded_file.h"
#include "base/environment_value.h"
#include "launcher/config/accelerate_config.h"
#include "launcher/config/instructlab_config.h"
#include "launcher/config/own_config.h"
#include "launcher/config/yaml_value.h"

namespace muster::launcher {

absl::StatusOr<ConfigMeaning> ReadConfig(
    const std::string& text, const std::vector<Flag>& flags,
    const ConfigSurroundings& surroundings) {
  const absl::StatusOr<YamlValue> document = ParseYaml(text);
  if (!document.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(surroundings.file_name, ":", document.status().message()));
  }
  if (document->kind != YamlValue::Kind::kMap) {
    return absl::InvalidArgumentError(
        absl::StrCat(surroundings.file_name, ":", std::max(1, document->line),
                     ": no keys; write lines such as nnodes: 2"));
  }
  if (document->Find("distributed_type") != nullptr ||
      document->Find("compute_environment") != nullptr) {
    return ReadAccelerateConfig(*document, surroundings);
  }
  const YamlValue* const train = document->Find("train");
  if (train != nullptr && train->kind != YamlValue::Kind::kMap) {
    return absl::InvalidArgumentError(absl::StrCat(
        surroundings.file_name, ":", train->line,
        ": train: is InstructLab's section of keys; write below it lines such "
        "as nproc_per_node: 8, indented"));
  }
  if (train != nullptr) return ReadInstructLabConfig(*document, surroundings);
  return ReadOwnConfig(*document, flags, surroundings);
}

ConfigSurroundings SurroundingsOf(
    const std::string& path,
    const std::map<std::string, std::string>& environment) {
  ConfigSurroundings surroundings;
  surroundings.file_name = path;
  std::error_code error;
  surroundings.working_directory =
      std::filesystem::current_path(error).string();
  surroundings.python_path =
      EnvironmentValue(environment, "PYTHONPATH").value_or("");
  return surroundings;
}

absl::StatusOr<std::string> ReadConfigText(const std::string& path) {
  absl::StatusOr<std::string> text = ReadBoundedFile(path, kMaxYamlBytes);
  if (text.ok()) return text;
  return absl::InvalidArgumentError(
      absl::StrCat("--config=", path, ": ", text.status().message()));
}

}  // namespace muster::launcher
