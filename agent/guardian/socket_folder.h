#ifndef MUSTER_AGENT_GUARDIAN_SOCKET_FOLDER_H_
#define MUSTER_AGENT_GUARDIAN_SOCKET_FOLDER_H_

#include <string>

namespace muster::agent {

// The one file that may lie there as well (see agent/preemption).
inline constexpr char kFileAmongSockets[] = "preemption.json";

// Removes `folder`, the sockets and pipes in it, and kFileAmongSockets. Where
// it is not this user's own, is a link, or holds something else, that stays,
// and the folder with it. Says nothing.
void RemoveSocketFolder(const std::string& folder);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GUARDIAN_SOCKET_FOLDER_H_
