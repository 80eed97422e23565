#ifndef MUSTER_LAUNCHER_SSH_SSH_NODE_H_
#define MUSTER_LAUNCHER_SSH_SSH_NODE_H_

namespace muster::launcher {

// Whether this process was started over ssh as a host's end of the connection.
bool IsSshNode(int argc, char** argv);

// That end: reads from stdin what to be, starts this host's agent and the hosts
// behind it, and tells on stdout what comes of them. Where the connection ends,
// however it does, the agent leaves its job and the hosts behind are hung up.
// The exit code.
int RunSshNode();

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_SSH_SSH_NODE_H_
