#ifndef MUSTER_BASE_CHANNEL_KEY_H_
#define MUSTER_BASE_CHANNEL_KEY_H_

#include <cstddef>

namespace muster {

// Length in bytes of a round's channel key: the secret that the coordinator
// gives to the agents of a round (--encrypt=workers), and each agent to its
// workers. The key stands in no log, status, store or environment.
inline constexpr size_t kChannelKeyBytes = 32;

// Variable of a worker: "FD:INODE" of an inherited pipe from which the channel
// key is read, once. INODE tells the pipe from another file that got the number
// after a program between agent and worker had closed the pipe.
inline constexpr char kChannelKeyVariable[] = "MUSTER_CHANNEL_KEY_PIPE";

}  // namespace muster

#endif  // MUSTER_BASE_CHANNEL_KEY_H_
