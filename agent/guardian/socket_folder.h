#ifndef MUSTER_AGENT_GUARDIAN_SOCKET_FOLDER_H_
#define MUSTER_AGENT_GUARDIAN_SOCKET_FOLDER_H_

#include <string>

namespace muster {

// Removes `folder` and the sockets in it. Where it is not this user's own, is a
// link, or holds something else than sockets, what is no socket stays, and the
// folder with it. Says nothing.
void RemoveSocketFolder(const std::string& folder);

}  // namespace muster

#endif  // MUSTER_AGENT_GUARDIAN_SOCKET_FOLDER_H_
