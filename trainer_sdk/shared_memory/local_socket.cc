#include "trainer_sdk/shared_memory/local_socket.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "base/poll.h"

namespace muster {
namespace {

absl::Status Failed(const char* what, int error) {
  const std::string message =
      absl::StrCat("cannot ", what, ": ", std::strerror(error));
  switch (error) {
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ENOBUFS:
    case ETOOMANYREFS:
      return absl::ResourceExhaustedError(message);
    default:
      return absl::UnavailableError(message);
  }
}

// Makes the abstract Unix address for `name`: a zero byte, then the name
// without a terminator.
socklen_t Address(const std::string& name, sockaddr_un* address) {
  *address = {};
  address->sun_family = AF_UNIX;
  const size_t length = std::min(name.size(), sizeof(address->sun_path) - 1);
  std::memcpy(address->sun_path + 1, name.data(), length);
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
}

absl::Status CheckSameUser(int socket) {
  ucred peer;
  socklen_t length = sizeof(peer);
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) {
    return Failed("tell whose a local socket is", errno);
  }
  if (peer.uid != geteuid()) {
    return absl::PermissionDeniedError(
        absl::StrCat("the process at the other end (pid ", peer.pid,
                     ") is of user ", peer.uid, ", this one of ", geteuid()));
  }
  return absl::OkStatus();
}

// The interval at which a wait calls LocalWaitLimits::look.
constexpr Duration kLook = std::chrono::milliseconds(20);

// Checks whether a wait may continue: returns the error of
// LocalWaitLimits::look, or, after the deadline, DeadlineExceeded with the
// message `late`. A waiting function must call Look at intervals of at most
// kLook.
absl::Status Look(const LocalWaitLimits& limits, const char* late) {
  if (limits.look != nullptr) {
    if (absl::Status s = limits.look(); !s.ok()) return s;
  }
  return MonotonicNow() < limits.deadline ? absl::OkStatus()
                                          : absl::DeadlineExceededError(late);
}

absl::Status WaitFor(int fd, short events, const LocalWaitLimits& limits,
                     const char* late) {
  while (true) {
    const Instant look = std::min(limits.deadline, MonotonicNow() + kLook);
    if (PollUntil(fd, events, look)) return absl::OkStatus();
    if (absl::Status s = Look(limits, late); !s.ok()) return s;
  }
}

}  // namespace

absl::StatusOr<OwnedFd> ListenLocal(const std::string& name) {
  OwnedFd fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.open()) return Failed("create a local socket", errno);
  sockaddr_un address;
  const socklen_t length = Address(name, &address);
  if (bind(fd.get(), reinterpret_cast<sockaddr*>(&address), length) != 0) {
    return Failed("name a local socket", errno);
  }
  if (listen(fd.get(), SOMAXCONN) != 0) {
    return Failed("listen at a local socket", errno);
  }
  return fd;
}

absl::StatusOr<OwnedFd> AcceptLocal(int listener) {
  OwnedFd fd(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!fd.open()) {
    if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED) return fd;
    return Failed("accept at a local socket", errno);
  }
  if (absl::Status same = CheckSameUser(fd.get()); !same.ok()) return same;
  return fd;
}

absl::StatusOr<OwnedFd> ConnectLocal(const std::string& name,
                                     const LocalWaitLimits& limits) {
  OwnedFd fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!fd.open()) return Failed("create a local socket", errno);
  // Connect in blocking mode, because poll cannot wait until a listener's
  // backlog has room. SO_SNDTIMEO limits each call of connect to kLook.
  // LocalWaitLimits::look is called between two calls.
  const timeval slice = {
      0, std::chrono::duration_cast<std::chrono::microseconds>(kLook).count()};
  if (setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &slice, sizeof(slice)) !=
      0) {
    return Failed("set the time limit of a local socket", errno);
  }
  sockaddr_un address;
  const socklen_t length = Address(name, &address);
  while (connect(fd.get(), reinterpret_cast<sockaddr*>(&address), length) !=
         0) {
    if (errno != EAGAIN && errno != EINTR) {
      return Failed("connect to a local socket", errno);
    }
    absl::Status go_on =
        Look(limits, "too many others wait to be taken at the local socket");
    if (!go_on.ok()) return go_on;
  }
  if (absl::Status same = CheckSameUser(fd.get()); !same.ok()) return same;
  return fd;
}

absl::Status SendLocal(int socket, const std::string& message,
                       const std::vector<int>& descriptors,
                       const LocalWaitLimits& limits) {
  alignas(cmsghdr) char control[CMSG_SPACE(kMaxDescriptors * sizeof(int))] = {};
  iovec data = {const_cast<char*>(message.data()), message.size()};
  msghdr header = {};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  if (!descriptors.empty()) {
    const size_t bytes = descriptors.size() * sizeof(int);
    header.msg_control = control;
    header.msg_controllen = CMSG_SPACE(bytes);
    cmsghdr* const rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(bytes);
    std::memcpy(CMSG_DATA(rights), descriptors.data(), bytes);
  }
  while (sendmsg(socket, &header, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return Failed("send to a local socket", errno);
    absl::Status ready =
        WaitFor(socket, POLLOUT, limits, "cannot send to a local socket");
    if (!ready.ok()) return ready;
  }
  return absl::OkStatus();
}

absl::StatusOr<LocalMessage> ReceiveLocal(int socket, size_t max_bytes,
                                          const LocalWaitLimits& limits) {
  LocalMessage message;
  message.bytes.resize(max_bytes);
  alignas(cmsghdr) char control[CMSG_SPACE(kMaxDescriptors * sizeof(int))];
  iovec data = {message.bytes.data(), message.bytes.size()};
  msghdr header = {};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof(control);
  ssize_t received;
  while ((received =
              recvmsg(socket, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC)) < 0) {
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return Failed("receive from a local socket", errno);
    absl::Status ready =
        WaitFor(socket, POLLIN, limits, "nothing came from a local socket");
    if (!ready.ok()) return ready;
  }
  for (cmsghdr* one = CMSG_FIRSTHDR(&header); one != nullptr;
       one = CMSG_NXTHDR(&header, one)) {
    if (one->cmsg_level != SOL_SOCKET || one->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (one->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    std::vector<int> descriptors(count);
    std::memcpy(descriptors.data(), CMSG_DATA(one), count * sizeof(int));
    for (const int fd : descriptors) message.descriptors.emplace_back(fd);
  }
  if ((header.msg_flags & MSG_CTRUNC) != 0) {
    return absl::ResourceExhaustedError(
        "a descriptor was lost on its way through a local socket: out of file "
        "descriptors (ulimit -n)?");
  }
  if ((header.msg_flags & MSG_TRUNC) != 0) {
    return absl::InvalidArgumentError(
        "a message of a local socket is too long");
  }
  if (received == 0) {
    return absl::UnavailableError("the other end of a local socket is closed");
  }
  message.bytes.resize(static_cast<size_t>(received));
  return message;
}

}  // namespace muster
