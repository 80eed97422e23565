#ifndef MUSTER_AGENT_GUARDIAN_SOCKET_FOLDER_H_
#define MUSTER_AGENT_GUARDIAN_SOCKET_FOLDER_H_

#include <string>

namespace muster::agent {

// The name of the file that announces a preemption to the workers (see
// agent/preemption). It is the only regular file in a folder of worker sockets.
inline constexpr char kFileAmongSockets[] = "preemption.json";

// Removes `folder`, the sockets and pipes in it, and kFileAmongSockets. Does
// nothing if `folder` is a symbolic link or belongs to another user. Any other
// file is kept, and then the folder is kept too. Errors are ignored.
void RemoveSocketFolder(const std::string& folder);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GUARDIAN_SOCKET_FOLDER_H_
