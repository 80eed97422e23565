#ifndef MUSTER_BASE_CHANNEL_KEY_H_
#define MUSTER_BASE_CHANNEL_KEY_H_

#include <cstddef>

namespace muster {

// Length in bytes of a round's channel key, a secret for --encrypt=workers. The
// coordinator gives the key to the agents of a round, and each agent to its
// workers. The key is never written to a log, status, store or environment.
inline constexpr size_t kChannelKeyBytes = 32;

// Environment variable of a worker. Its value is "FD:INODE". FD is the
// inherited pipe from which the worker reads the channel key, once. INODE
// identifies the pipe: a program between agent and worker may close the pipe,
// and another file may then get the number FD.
inline constexpr char kChannelKeyVariable[] = "MUSTER_CHANNEL_KEY_PIPE";

}  // namespace muster

#endif  // MUSTER_BASE_CHANNEL_KEY_H_
