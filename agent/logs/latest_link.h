#ifndef MUSTER_AGENT_LOGS_LATEST_LINK_H_
#define MUSTER_AGENT_LOGS_LATEST_LINK_H_

#include <string>

namespace muster::agent {

// Makes the symbolic link <directory>/latest point to the run's folder, and
// replaces an older link atomically. A file or folder of this name is not
// touched. Errors are ignored, for instance on a file system without links.
void PointLatestAt(const std::string& run_folder, const std::string& directory);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LOGS_LATEST_LINK_H_
