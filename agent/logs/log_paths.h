#ifndef MUSTER_AGENT_LOGS_LOG_PATHS_H_
#define MUSTER_AGENT_LOGS_LOG_PATHS_H_

#include <string>

namespace muster::agent {

// The folder of one run inside --log-dir. The name is the user's text: what
// does not belong in a file's name is replaced, so that it can neither leave
// the folder nor hide in it, and a hash of the original is added then, so that
// two jobs still have two folders. Pure.
std::string RunFolder(const std::string& directory,
                      const std::string& run_name);

// `run_name` with the tag by which the coordinator tells this run from others
// of that name; empty: an older coordinator gives none.
std::string TaggedRunName(const std::string& run_name, const std::string& tag);

// Where the coordinator inside `launch` keeps its decisions:
// <run folder>/events.jsonl
std::string EventLogPath(const std::string& directory,
                         const std::string& run_name);

// <directory>/latest
std::string LatestLink(const std::string& directory);

// <run folder>/attempt_<attempt>
std::string AttemptFolder(const std::string& run_folder, int attempt);

// <run folder>/attempt_<attempt>/<rank>
std::string WorkerFolder(const std::string& run_folder, int attempt, int rank);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LOGS_LOG_PATHS_H_
