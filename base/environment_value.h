#ifndef MUSTER_BASE_ENVIRONMENT_VALUE_H_
#define MUSTER_BASE_ENVIRONMENT_VALUE_H_

#include <map>
#include <optional>
#include <string>

namespace muster {

// Returns the variables of this process's environment by name. If a name occurs
// twice, the first value counts, as in getenv. Not to be called while another
// thread changes the environment.
std::map<std::string, std::string> ReadEnvironment();

// Returns the value of this process's variable `name`; empty if it is not set.
// Not to be called while another thread changes the environment.
std::string EnvironmentVariable(const char* name);

// Returns the value of the variable `name` in `environment`; the value may be
// empty. nullopt: the variable is not set.
std::optional<std::string> EnvironmentValue(
    const std::map<std::string, std::string>& environment,
    const std::string& name);

// Like EnvironmentValue, but returns nullopt for an empty value, too: many
// variables, such as TMPDIR, count as not set if their value is empty.
std::optional<std::string> NonEmptyEnvironmentValue(
    const std::map<std::string, std::string>& environment,
    const std::string& name);

// The folders in which programs are searched if PATH is not set:
// "/bin:/usr/bin" on Linux. This is the system's default of execvp(3), without
// the current folder.
std::string DefaultSearchPath();

// The folders in which programs are searched, from PATH in `environment`. An
// empty PATH means the current folder, as for execvp(3).
std::string SearchPath(const std::map<std::string, std::string>& environment);

}  // namespace muster

#endif  // MUSTER_BASE_ENVIRONMENT_VALUE_H_
