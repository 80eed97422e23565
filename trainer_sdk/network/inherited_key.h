#ifndef MUSTER_TRAINER_SDK_NETWORK_INHERITED_KEY_H_
#define MUSTER_TRAINER_SDK_NETWORK_INHERITED_KEY_H_

#include <string>

#include "absl/status/statusor.h"

namespace muster {

// Returns the key that encrypts this process's connections to other ranks. With
// `launch --encrypt=workers` it has kChannelKeyBytes bytes; otherwise it is
// empty. The agent passed the key to this process in a pipe. The first call
// reads the key and closes the pipe, so that programs started later cannot read
// the key. Later calls return the same result. Thread-safe.
//
//   FailedPrecondition  the agent has passed a key, but another process has
//                       read the pipe, or the pipe is closed
absl::StatusOr<std::string> InheritedChannelKey();

// Returns the key that encrypts connections between ranks: reads it from the
// pipe that the agent passed to this process, and closes the pipe. `value`: the
// pipe as FD:INODE, which is the value of the environment variable
// kChannelKeyVariable.
absl::StatusOr<std::string> TakeChannelKey(const std::string& value);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NETWORK_INHERITED_KEY_H_
