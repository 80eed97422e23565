#include "trainer_sdk/progress/progress.h"

#include <cstddef>
#include <cstring>

namespace muster {

Progress::Progress(const std::string& socket_path) {
  if (socket_path.empty() || socket_path.size() >= sizeof(agent_.sun_path)) {
    return;
  }
  socket_ = OwnedFd(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket_.open()) return;
  agent_.sun_family = AF_UNIX;
  std::memcpy(agent_.sun_path, socket_path.data(), socket_path.size());
  agent_bytes_ = offsetof(sockaddr_un, sun_path) + socket_path.size();
  if (socket_path[0] == '@') {
    agent_.sun_path[0] = '\0';  // abstract names are not terminated by 0
  } else {
    ++agent_bytes_;
  }
}

void Progress::Send(const ProgressUpdate& update) {
  const std::string message = ProgressMessage(update);
  // The socket is not connected, so an agent that reopens it is found again.
  const ssize_t sent =
      agent_bytes_ == 0
          ? -1
          : sendto(socket_.get(), message.data(), message.size(),
                   MSG_DONTWAIT | MSG_NOSIGNAL,
                   reinterpret_cast<const sockaddr*>(&agent_), agent_bytes_);
  if (sent < 0) ++dropped_;
}

}  // namespace muster
