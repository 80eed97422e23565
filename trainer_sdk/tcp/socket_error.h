#ifndef MUSTER_TRAINER_SDK_TCP_SOCKET_ERROR_H_
#define MUSTER_TRAINER_SDK_TCP_SOCKET_ERROR_H_

#include <string>

#include "absl/status/status.h"

namespace muster {

// What `error` (an errno) of a socket's call means: ResourceExhausted where
// this process or host has no descriptor or memory left, saying which limit,
// else Unavailable.
absl::Status SocketError(const std::string& what, int error);

// What accept4's errno says.
enum class AcceptFailure {
  kNobody,  // nobody calls (any more): wait for the next
  kAgain,   // the call was interrupted, or the caller has gone: take the next
  kFatal,   // no later call can be taken either
};
AcceptFailure AcceptFailureOf(int error);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_TCP_SOCKET_ERROR_H_
