#ifndef MUSTER_AGENT_HEALTH_READ_HOST_H_
#define MUSTER_AGENT_HEALTH_READ_HOST_H_

#include <string>

#include "agent/health/node_facts.h"
#include "base/time.h"

namespace muster::agent {

// Reads cores, memory, limits and clock from /proc and /sys below `root` and
// from the kernel. Does not block.
HostFacts ReadHost(const std::string& root);

// Reads the free space of a folder's file system, and whether the folder can be
// written. If the folder does not exist, its nearest existing parent is
// examined instead. A file system that does not answer by `deadline` is
// reported as an error.
FolderFacts ReadFolder(const std::string& purpose, const std::string& path,
                       Instant deadline);

// Whether the file system in this line of /proc/PID/mountinfo is writable,
// whatever the options of the mount.
bool IsWritableByMountInfo(const std::string& line);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_HEALTH_READ_HOST_H_
