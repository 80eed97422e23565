#ifndef MUSTER_LAUNCHER_SSH_REMOTE_ENVIRONMENT_H_
#define MUSTER_LAUNCHER_SSH_REMOTE_ENVIRONMENT_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace muster::launcher {

using Environment = std::map<std::string, std::string>;

// Patterns of the variables that are always sent to other hosts: names, or
// prefixes that end in '*'. The patterns match search paths of libraries and
// modules, and settings of libraries.
const std::vector<std::string>& SentVariables();

// Whether `name` matches one of `patterns`. A pattern is NAME or PREFIX*.
bool MatchesAny(std::string_view name,
                const std::vector<std::string>& patterns);

// Returns the variables to send to other hosts. There are three sources. First,
// the variables of `here` that match SentVariables. Second, `files`
// (.deepspeed_env, in order). Third, `exports` (--export): NAME and PREFIX* are
// copied from `here`, NAME=VALUE is set. A later source overrides an earlier
// one. The job's token and variables that a launcher sets for one process are
// never included.
//
// InvalidArgument, one line: an export has none of these formats, or its NAME
// is not set in `here`.
absl::StatusOr<Environment> ChooseEnvironment(
    const Environment& here, const std::vector<Environment>& files,
    const std::vector<std::string>& exports);

// Parses DeepSpeed's .deepspeed_env, which has lines NAME=VALUE; blanks around
// name and value are removed. Empty lines and comments are skipped (DeepSpeed
// rejects them). InvalidArgument: "line 2: ...".
absl::StatusOr<Environment> ParseEnvironmentFile(std::string_view text);

// Whether `name` is a valid variable name: letters, digits and '_', not
// beginning with a digit.
bool IsVariableName(std::string_view name);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_SSH_REMOTE_ENVIRONMENT_H_
