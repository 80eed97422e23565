#ifndef MUSTER_TRAINER_SDK_TCP_SOCKET_ERROR_H_
#define MUSTER_TRAINER_SDK_TCP_SOCKET_ERROR_H_

#include <string>

#include "absl/status/status.h"

namespace muster {

// Converts the errno of a socket call: ResourceExhausted with the name of the
// limit if this process or host has no descriptor or memory left, else
// Unavailable.
absl::Status SocketError(const std::string& what, int error);

// The meaning of an errno of accept4.
enum class AcceptFailure {
  kNobody,  // kNobody: there is no pending connection; wait for the next
  kAgain,   // interrupted, or the connection was closed: accept again
  kFatal,   // no later connection can be accepted either
};
AcceptFailure AcceptFailureOf(int error);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_TCP_SOCKET_ERROR_H_
