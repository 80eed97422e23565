#ifndef MUSTER_AGENT_GUARDIAN_ENVIRONMENT_MERGE_H_
#define MUSTER_AGENT_GUARDIAN_ENVIRONMENT_MERGE_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster::agent {

// Builds an environment in execve's form ("NAME=value"): first `inherited` in
// its order, without the names in `unset` and `set`, then `set` in its order.
// If a name is in `set` twice, the last one is used. Pure.
std::vector<std::string> MergeEnvironment(
    const std::vector<std::string>& inherited,
    const std::vector<std::pair<std::string, std::string>>& set,
    const std::vector<std::string>& unset);

// The value of `name`, or nullptr. The pointer is valid as long as
// `environment`.
const char* FindInEnvironment(const std::vector<std::string>& environment,
                              std::string_view name);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GUARDIAN_ENVIRONMENT_MERGE_H_
