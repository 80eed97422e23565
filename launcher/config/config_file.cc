#include "launcher/config/config_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "base/owned_fd.h"
#include "launcher/config/accelerate_config.h"
#include "launcher/config/instructlab_config.h"
#include "launcher/config/own_config.h"
#include "launcher/config/yaml_value.h"

namespace muster {

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
        absl::StrCat(surroundings.file_name, ":", document->line,
                     ": no keys; write lines such as nnodes: 2"));
  }
  if (document->Find("distributed_type") != nullptr ||
      document->Find("compute_environment") != nullptr) {
    return ReadAccelerateConfig(*document, surroundings);
  }
  const YamlValue* const train = document->Find("train");
  if (train != nullptr && train->kind == YamlValue::Kind::kMap) {
    return ReadInstructLabConfig(*document, surroundings);
  }
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
  const auto python_path = environment.find("PYTHONPATH");
  if (python_path != environment.end()) {
    surroundings.python_path = python_path->second;
  }
  return surroundings;
}

absl::StatusOr<std::string> ReadConfigText(const std::string& path) {
  const auto fail = [&path](const std::string& why) {
    return absl::InvalidArgumentError(
        absl::StrCat("--config=", path, ": ", why));
  };
  // A pipe without a writer must not be waited for.
  const OwnedFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.open()) return fail(std::strerror(errno));
  std::string text;
  char buffer[4096];
  while (text.size() <= kMostYamlBytes) {
    const ssize_t n = read(file.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail(std::strerror(errno));
    if (n == 0) return text;
    text.append(buffer, static_cast<size_t>(n));
  }
  return fail(absl::StrCat("is larger than ", kMostYamlBytes >> 10, " KiB"));
}

}  // namespace muster
