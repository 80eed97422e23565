#ifndef MUSTER_TRAINER_SDK_SHARED_MEMORY_LOCAL_SOCKET_H_
#define MUSTER_TRAINER_SDK_SHARED_MEMORY_LOCAL_SOCKET_H_

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/owned_fd.h"
#include "base/time.h"

namespace muster {

// Unix sockets with abstract names (no file is left behind), which keep the
// borders of messages and carry descriptors between processes of one user on
// one host. Errors everywhere:
//   DeadlineExceeded    nothing came, or nothing could be sent, in time
//   Unavailable         nobody listens, or the other end is closed
//   ResourceExhausted   no descriptors left, and the like
//   PermissionDenied    the other end is another user's
//   any other           what LocalPatience's `look` said

// How long something is waited for.
struct LocalPatience {
  Instant deadline;  // on MonotonicNow's clock
  // Asked now and then; what is not OK ends the wait. Empty: nothing does.
  std::function<absl::Status()> look;
};

// The most descriptors in one message.
inline constexpr int kMaxDescriptors = 200;

// Listens at `name`, which is not taken yet.
absl::StatusOr<OwnedFd> ListenLocal(const std::string& name);

// Takes a connection that waits; -1 where none does.
absl::StatusOr<OwnedFd> AcceptLocal(int listener);

// Waits for a place where too many others wait to be taken.
absl::StatusOr<OwnedFd> ConnectLocal(const std::string& name,
                                     const LocalPatience& patience);

// Sends one message with copies of the descriptors.
absl::Status SendLocal(int socket, const std::string& message,
                       const std::vector<int>& descriptors,
                       const LocalPatience& patience);

struct LocalMessage {
  std::string bytes;
  std::vector<OwnedFd> descriptors;
};

// Waits for one message; InvalidArgument if it is longer than `max_bytes`.
absl::StatusOr<LocalMessage> ReceiveLocal(int socket, size_t max_bytes,
                                          const LocalPatience& patience);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SHARED_MEMORY_LOCAL_SOCKET_H_
