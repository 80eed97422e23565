#ifndef MUSTER_AGENT_HEALTH_READ_HOST_H_
#define MUSTER_AGENT_HEALTH_READ_HOST_H_

#include <string>

#include "agent/health/node_facts.h"
#include "base/time.h"

namespace muster::agent {

// Reads cores, memory, limits and clock from /proc and /sys below `root` and
// from the kernel. Does not block.
HostFacts ReadHost(const std::string& root);

// Reads the space of a file system and whether it can be written; if the folder
// does not exist, of the nearest existing parent. A file system that does not
// answer by `deadline` is reported as an error.
FolderFacts ReadFolder(const std::string& purpose, const std::string& path,
                       Instant deadline);

// Whether the file system of a line of /proc/PID/mountinfo is writable,
// whatever the options of this mount.
bool IsWritableByMountInfo(const std::string& line);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_HEALTH_READ_HOST_H_
