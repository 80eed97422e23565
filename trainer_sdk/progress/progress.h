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

// Reports the training's progress to this worker's agent, for `launch status`,
// `launch watch` and the detection of hangs. Thread-safe.
//
// Never blocks and never fails: reports are dropped if there is no agent or its
// socket is full. So send a report every step.
class Progress {
 public:
  // `socket_path`: the agent's Unix datagram socket, as in
  // MUSTER_PROGRESS_SOCKET. A leading '@' means an abstract name, as for
  // sd_notify. If it is empty or there is no such socket, everything is
  // dropped.
  explicit Progress(const std::string& socket_path);

  // Sends one datagram: {.step = 1200, .loss = 2.31}.
  void Send(const ProgressUpdate& update);

  // Reports that the worker is alive, for long phases between steps.
  void Alive() { Send(ProgressUpdate{}); }

  // The number of dropped datagrams.
  int64_t dropped() const { return dropped_; }

 private:
  OwnedFd socket_;
  sockaddr_un agent_ = {};
  socklen_t agent_bytes_ = 0;  // 0: no agent
  std::atomic<int64_t> dropped_ = 0;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROGRESS_PROGRESS_H_
