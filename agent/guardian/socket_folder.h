#ifndef MUSTER_AGENT_GUARDIAN_SOCKET_FOLDER_H_
#define MUSTER_AGENT_GUARDIAN_SOCKET_FOLDER_H_

#include <string>

namespace muster::agent {

// The only regular file that may be in a folder of worker sockets (see
// agent/preemption).
inline constexpr char kFileAmongSockets[] = "preemption.json";

// Removes `folder`, the sockets and pipes in it, and kFileAmongSockets. Does
// nothing if `folder` is a symbolic link or belongs to another user. Any other
// file in the folder is kept, and the folder with it. Errors are ignored.
void RemoveSocketFolder(const std::string& folder);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GUARDIAN_SOCKET_FOLDER_H_
