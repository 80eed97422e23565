#ifndef MUSTER_TRAINER_SDK_NETWORK_HANGUP_WATCH_H_
#define MUSTER_TRAINER_SDK_NETWORK_HANGUP_WATCH_H_

#include "base/owned_fd.h"

namespace muster {

// Which of a mesh's connections their peers have closed since the last look:
// one system call of O(1), whatever the number of connections, so that each
// operation can afford it. One thread at a time.
class HangupWatch {
 public:
  HangupWatch();

  // `socket`: connected, and open for as long as this lives.
  void Add(int socket);

  // Whether a peer closed its end of a connection since the last call; each
  // peer counts once. Data that the peer sent before may still wait to be read.
  // Always true where the system had no descriptor for this.
  bool Any();

 private:
  OwnedFd epoll_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NETWORK_HANGUP_WATCH_H_
