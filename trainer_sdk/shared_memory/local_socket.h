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

// Unix sockets with abstract names, which leave no file behind. These sockets
// preserve message boundaries and pass descriptors between processes of one
// user on one host. Common errors:
//   DeadlineExceeded    nothing was received or could be sent in time
//   Unavailable         no process listens, or the other end is closed
//   ResourceExhausted   no descriptors or memory left
//   PermissionDenied    the other process belongs to another user
//   any other           an error from LocalWaitLimits::look

namespace muster {

// The conditions that end a wait before the awaited event.
struct LocalWaitLimits {
  Instant deadline;  // the latest end of the wait (MonotonicNow's clock)
  // A check that is called repeatedly during the wait; its first error ends the
  // wait and is returned. Empty: no check.
  std::function<absl::Status()> look;
};

// The maximum number of descriptors in one message.
inline constexpr int kMaxDescriptors = 200;

// Listens at the abstract name `name`, which must not be in use.
absl::StatusOr<OwnedFd> ListenLocal(const std::string& name);

// Accepts a pending connection without blocking. Returns a closed descriptor
// (-1) if no connection is pending.
absl::StatusOr<OwnedFd> AcceptLocal(int listener);

// Connects to the listener at `name`; blocks while its backlog is full.
absl::StatusOr<OwnedFd> ConnectLocal(const std::string& name,
                                     const LocalWaitLimits& limits);

// Sends one message together with duplicates of `descriptors`.
absl::Status SendLocal(int socket, const std::string& message,
                       const std::vector<int>& descriptors,
                       const LocalWaitLimits& limits);

struct LocalMessage {
  std::string bytes;
  std::vector<OwnedFd> descriptors;
};

// Blocks until a message arrives. InvalidArgument: the message is longer than
// `max_bytes`.
absl::StatusOr<LocalMessage> ReceiveLocal(int socket, size_t max_bytes,
                                          const LocalWaitLimits& limits);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SHARED_MEMORY_LOCAL_SOCKET_H_
