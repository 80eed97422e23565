#ifndef MUSTER_TRAINER_SDK_NETWORK_HANGUP_WATCH_H_
#define MUSTER_TRAINER_SDK_NETWORK_HANGUP_WATCH_H_

#include "base/owned_fd.h"

namespace muster {

// Detects whether peers have closed connections of a mesh since the last check.
// A check is one system call, O(1) in the number of connections, so it can be
// made in every operation. Not thread-safe.
class HangupWatch {
 public:
  HangupWatch();

  // Adds a connection. `socket` must be connected, and must stay open as long
  // as this object lives.
  void Add(int socket);

  // Whether a peer has closed its end of any connection since the last call of
  // Any. Each close is reported once. Data that the peer sent before the close
  // may still be unread. Always true if the system could not watch the
  // connections (epoll), for example because no descriptor was left.
  bool Any();

 private:
  OwnedFd epoll_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NETWORK_HANGUP_WATCH_H_
