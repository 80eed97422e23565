#include "base/environment_value.h"

#include <unistd.h>

#include <cstdlib>

namespace muster {

std::map<std::string, std::string> ReadEnvironment() {
  std::map<std::string, std::string> environment;
  // Stop at once if `environ` is null, as it is after clearenv(3).
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
    const std::string entry = *at;
    const size_t equals = entry.find('=');
    if (equals == std::string::npos) continue;
    environment.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return environment;
}

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

std::string EnvironmentVariable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string DefaultSearchPath() {
  char path[256];
  const size_t size = confstr(_CS_PATH, path, sizeof path);
  return size > 0 && size <= sizeof path ? path : "/bin:/usr/bin";
}

std::string SearchPath(const std::map<std::string, std::string>& environment) {
  const std::optional<std::string> path = EnvironmentValue(environment, "PATH");
  return path ? *path : DefaultSearchPath();
}

}  // namespace muster
