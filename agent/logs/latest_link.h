#ifndef MUSTER_AGENT_LOGS_LATEST_LINK_H_
#define MUSTER_AGENT_LOGS_LATEST_LINK_H_

#include <string>

namespace muster::agent {

// Leads <directory>/latest to the run's folder. A link is replaced at once; a
// file or folder of that name is left alone, and a file system without links
// has none.
void PointLatestAt(const std::string& run_folder, const std::string& directory);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LOGS_LATEST_LINK_H_
