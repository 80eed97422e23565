#ifndef MUSTER_TRAINER_SDK_SHARED_MEMORY_LOCAL_SOCKET_H_
#define MUSTER_TRAINER_SDK_SHARED_MEMORY_LOCAL_SOCKET_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/owned_fd.h"
#include "base/time.h"

namespace muster {

// Unix sockets with abstract names (no file is left behind), which keep the
// borders of messages and carry descriptors between processes of one user on
// one host. Deadlines are on MonotonicNow's clock. Errors everywhere:
//   DeadlineExceeded    nothing came, or nothing could be sent, in time
//   Unavailable         nobody listens, or the other end is closed
//   ResourceExhausted   no descriptors left, and the like
//   PermissionDenied    the other end is another user's

// The most descriptors in one message.
inline constexpr int kMaxDescriptors = 200;

// Listens at `name`, which is not taken yet.
absl::StatusOr<OwnedFd> ListenLocal(const std::string& name);

// Takes a connection that waits; -1 where none does.
absl::StatusOr<OwnedFd> AcceptLocal(int listener);

absl::StatusOr<OwnedFd> ConnectLocal(const std::string& name);

// Sends one message with copies of the descriptors.
absl::Status SendLocal(int socket, const std::string& message,
                       const std::vector<int>& descriptors, Instant deadline);

struct LocalMessage {
  std::string bytes;
  std::vector<OwnedFd> descriptors;
};

// Waits for one message; InvalidArgument if it is longer than `max_bytes`.
absl::StatusOr<LocalMessage> ReceiveLocal(int socket, size_t max_bytes,
                                          Instant deadline);

// Whether `fd` becomes readable (or hung up) by `deadline`.
bool WaitReadable(int fd, Instant deadline);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SHARED_MEMORY_LOCAL_SOCKET_H_
