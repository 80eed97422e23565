#ifndef MUSTER_BASE_ENVIRONMENT_VALUE_H_
#define MUSTER_BASE_ENVIRONMENT_VALUE_H_

#include <map>
#include <optional>
#include <string>

namespace muster {

// This process's environment, by name. Not to be called while another thread
// changes it.
std::map<std::string, std::string> ReadEnvironment();

// What the variable `name` of an environment is set to, the empty text
// included; nullopt: it is not set.
std::optional<std::string> EnvironmentValue(
    const std::map<std::string, std::string>& environment,
    const std::string& name);

// The same for the many variables that count as not set where they are empty,
// as TMPDIR does.
std::optional<std::string> NonEmptyEnvironmentValue(
    const std::map<std::string, std::string>& environment,
    const std::string& name);

}  // namespace muster

#endif  // MUSTER_BASE_ENVIRONMENT_VALUE_H_
