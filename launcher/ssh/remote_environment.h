#ifndef MUSTER_LAUNCHER_SSH_REMOTE_ENVIRONMENT_H_
#define MUSTER_LAUNCHER_SSH_REMOTE_ENVIRONMENT_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace muster::launcher {

using Environment = std::map<std::string, std::string>;

// What goes to other hosts without being asked for: names, or prefixes that end
// in '*'. Paths of libraries and modules, and what tunes them.
const std::vector<std::string>& TravellingVariables();

// Whether `name` is one of `patterns`, which are names or PREFIX*.
bool MatchesAny(std::string_view name,
                const std::vector<std::string>& patterns);

// The variables that travel: of `here` those of TravellingVariables, then, each
// over the former, those of `files` (.deepspeed_env, in order) and those of
// `exports` (--export: NAME and PREFIX* are taken from `here`, NAME=VALUE is
// set). Never the job's token, nor what a launcher sets for one process.
//
// InvalidArgument, one line: an export that is neither form, or a NAME that is
// not set here.
absl::StatusOr<Environment> ChooseEnvironment(
    const Environment& here, const std::vector<Environment>& files,
    const std::vector<std::string>& exports);

// Reads DeepSpeed's .deepspeed_env: NAME=VALUE lines, blanks around both
// removed. Blank lines and comments, which DeepSpeed refuses, are left out.
// InvalidArgument: "line 2: ...".
absl::StatusOr<Environment> ParseEnvironmentFile(std::string_view text);

// Whether `name` can name a variable: letters, digits and '_', no digit first.
bool IsVariableName(std::string_view name);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_SSH_REMOTE_ENVIRONMENT_H_
