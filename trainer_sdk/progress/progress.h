#ifndef MUSTER_TRAINER_SDK_PROGRESS_PROGRESS_H_
#define MUSTER_TRAINER_SDK_PROGRESS_PROGRESS_H_

#include <sys/socket.h>
#include <sys/un.h>

#include <atomic>
#include <cstdint>
#include <string>

#include "base/owned_fd.h"
#include "base/time.h"
#include "trainer_sdk/progress/progress_message.h"

namespace muster {

// Tells this worker's agent how the training goes, for `launch status`,
// `launch watch` and the detection of hangs. Thread-safe.
//
// Never waits and never fails: without an agent, and while the agent's socket
// is full, what is said is dropped. Say it again every step.
class Progress {
 public:
  // The agent's Unix datagram socket: what MUSTER_PROGRESS_SOCKET holds. A
  // leading '@' names an abstract one, as for sd_notify. Empty, or no such
  // socket: everything is dropped.
  explicit Progress(const std::string& socket_path);

  // One datagram: {.step = 1200, .loss = 2.31}.
  void Send(const ProgressUpdate& update);

  // Still alive, without anything to report: for long phases between steps.
  void Alive() { Send(ProgressUpdate{}); }

  // How many datagrams were dropped.
  int64_t dropped() const { return dropped_; }

 private:
  OwnedFd socket_;
  sockaddr_un agent_ = {};
  socklen_t agent_bytes_ = 0;  // 0: nobody listens
  std::atomic<int64_t> dropped_ = 0;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROGRESS_PROGRESS_H_
