#include "base/environment_value.h"

namespace muster {

std::optional<std::string> EnvironmentValue(
    const std::map<std::string, std::string>& environment,
    const std::string& name) {
  const auto found = environment.find(name);
  if (found == environment.end()) return std::nullopt;
  return found->second;
}

std::optional<std::string> NonEmptyEnvironmentValue(
    const std::map<std::string, std::string>& environment,
    const std::string& name) {
  std::optional<std::string> value = EnvironmentValue(environment, name);
  if (value && value->empty()) return std::nullopt;
  return value;
}

}  // namespace muster
