#ifndef MUSTER_TRAINER_SDK_NETWORK_HANGUP_WATCH_H_
#define MUSTER_TRAINER_SDK_NETWORK_HANGUP_WATCH_H_

#include "base/owned_fd.h"

namespace muster {

// Detects whether peers have closed connections of a mesh since the last check.
// A check is one system call, O(1) in the number of connections, so that each
// operation can make one. Not thread-safe.
class HangupWatch {
 public:
  HangupWatch();

  // `socket`: connected, and open as long as this object lives.
  void Add(int socket);

  // Whether a peer closed its end of a connection since the last call; each
  // peer counts once. Data that the peer sent before may still be unread.
  // Always true if the system had no descriptor for the watch.
  bool Any();

 private:
  OwnedFd epoll_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NETWORK_HANGUP_WATCH_H_
