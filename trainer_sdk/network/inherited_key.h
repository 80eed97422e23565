#ifndef MUSTER_TRAINER_SDK_NETWORK_INHERITED_KEY_H_
#define MUSTER_TRAINER_SDK_NETWORK_INHERITED_KEY_H_

#include <string>

#include "absl/status/statusor.h"

namespace muster {

// The key with which this process encrypts its connections to other ranks:
// kChannelKeyBytes bytes with `launch --encrypt=workers`, else empty. The first
// call reads the key from the pipe that the agent has handed over, and closes
// the pipe, so that programs that this process starts later cannot read the
// key. Later calls return the same result. Thread-safe.
//
//   FailedPrecondition  the agent has handed over a key, and another process
//                       has read the pipe, or the pipe is closed
absl::StatusOr<std::string> InheritedChannelKey();

// Reads the key as the first call of InheritedChannelKey does if
// kChannelKeyVariable is `value`.
absl::StatusOr<std::string> TakeChannelKey(const std::string& value);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NETWORK_INHERITED_KEY_H_
