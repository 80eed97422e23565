#ifndef MUSTER_AGENT_HEALTH_READ_HOST_H_
#define MUSTER_AGENT_HEALTH_READ_HOST_H_

#include <string>

#include "agent/health/node_facts.h"
#include "base/time.h"

namespace muster::agent {

// Cores, memory, limits and clock, from /proc and /sys below `root` and from
// the kernel. Never waits.
HostFacts ReadHost(const std::string& root);

// The space of a file system, and whether it can be written; of a folder that
// is not there, of the nearest one above it. A file system that does not answer
// by `deadline` is told as such.
FolderFacts ReadFolder(const std::string& purpose, const std::string& path,
                       Instant deadline);

// Whether a line of /proc/PID/mountinfo is about a file system that can be
// written to, however it is mounted there.
bool IsWritableByMountInfo(const std::string& line);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_HEALTH_READ_HOST_H_
