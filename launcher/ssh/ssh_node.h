#ifndef MUSTER_LAUNCHER_SSH_SSH_NODE_H_
#define MUSTER_LAUNCHER_SSH_SSH_NODE_H_

namespace muster::launcher {

// Whether ssh started this process on this host, as the remote end of a
// connection from another `launch`.
bool IsSshNode(int argc, char** argv);

// Runs the remote end of an ssh connection: reads messages from stdin, starts
// this host's agent and connects to further hosts, and writes messages to
// stdout. When the connection ends for any reason, the agent leaves its job and
// the further hosts are disconnected. Returns the exit code.
int RunSshNode();

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_SSH_SSH_NODE_H_
