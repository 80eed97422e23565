#ifndef MUSTER_LAUNCHER_SSH_SSH_NODE_H_
#define MUSTER_LAUNCHER_SSH_SSH_NODE_H_

namespace muster::launcher {

// Whether ssh started this process as the other end of a connection.
bool IsSshNode(int argc, char** argv);

// Runs that end of the connection: reads messages from stdin, starts this
// host's agent and further hosts, and writes messages to stdout. When the
// connection ends for any reason, the agent leaves its job and the further
// hosts are disconnected. Returns the exit code.
int RunSshNode();

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_SSH_SSH_NODE_H_
