#ifndef MUSTER_AGENT_LOGS_LOG_PATHS_H_
#define MUSTER_AGENT_LOGS_LOG_PATHS_H_

#include <string>

namespace muster::agent {

// The folder of a run in --log-dir. The run's name is user input, so characters
// that are not safe in a file name are replaced. The folder can therefore be
// neither outside of --log-dir nor hidden. If a character was replaced, a hash
// of the original name is appended, so that two jobs have two folders. Pure.
std::string RunFolder(const std::string& directory,
                      const std::string& run_name);

// Returns `run_name` with `tag` added. The coordinator uses the tag to
// distinguish runs of the same name; an older coordinator gives an empty tag.
std::string TaggedRunName(const std::string& run_name, const std::string& tag);

// The path of the event log of the coordinator inside `launch`: <run
// folder>/events.jsonl
std::string EventLogPath(const std::string& directory,
                         const std::string& run_name);

// The path of the link to the latest run: <directory>/latest
std::string LatestLink(const std::string& directory);

// The folder of one attempt, with the log files of one round:
// <run folder>/attempt_<attempt>
std::string AttemptFolder(const std::string& run_folder, int attempt);

// The folder of one worker's files in one round:
// <run folder>/attempt_<attempt>/<rank>
std::string WorkerFolder(const std::string& run_folder, int attempt, int rank);

// Makes the symbolic link <directory>/latest point to the run's folder, and
// replaces an older link atomically. A file or folder with the link's name is
// not touched. Errors are ignored, for instance on a file system without links.
void PointLatestAt(const std::string& run_folder, const std::string& directory);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LOGS_LOG_PATHS_H_
