#ifndef MUSTER_TRAINER_SDK_TCP_SOCKET_ERROR_H_
#define MUSTER_TRAINER_SDK_TCP_SOCKET_ERROR_H_

#include <string>

#include "absl/status/status.h"

namespace muster {

// Converts the errno of a socket call to a status. ResourceExhausted: this
// process or host has no descriptor or memory left; the message names the
// limit. Any other errno: Unavailable.
absl::Status SocketError(const std::string& what, int error);

// The right reaction to an error of accept4.
enum class AcceptFailure {
  kNobody,  // no connection is pending: wait for the next
  // the call was interrupted or the connection is gone: call accept again
  kAgain,
  kFatal,  // give up: no later connection can be accepted either
};
AcceptFailure AcceptFailureOf(int error);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_TCP_SOCKET_ERROR_H_
