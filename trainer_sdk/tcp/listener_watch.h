#ifndef MUSTER_TRAINER_SDK_TCP_LISTENER_WATCH_H_
#define MUSTER_TRAINER_SDK_TCP_LISTENER_WATCH_H_

#include <poll.h>
#include <sys/socket.h>

#include <string>

#include "absl/status/status.h"
#include "base/owned_fd.h"
#include "base/time.h"

namespace muster {

// Detects the death of a process that listens but has not connected yet. It
// opens an idle connection to the listener; the process need not accept it.
// When the listener drops the connection, as it does with any stranger, the
// watch dials again; if that is refused, the process no longer listens.
//
// A listener that cannot be reached is not watched. One that refuses the first
// connection may be dead, or a firewall may reject connections, so its process
// still has `patience` to connect.
class ListenerWatch {
 public:
  // Starts to dial. `who`: the listener's name in errors.
  ListenerWatch(const sockaddr_storage& address, socklen_t length,
                std::string who, Duration patience, Instant now);

  // The descriptor to poll, and the time of the next Look at the latest.
  pollfd polled() const;
  Instant until() const { return until_; }

  // Handles what has happened. Unavailable: the process no longer listens.
  absl::Status Look(Instant now);

 private:
  enum class State { kDialling, kConnected, kRefused, kBlind };

  void Dial(Instant now);
  void OnDialled(int error, Instant now);

  const sockaddr_storage address_;
  const socklen_t length_;
  const std::string who_;
  const Duration patience_;
  OwnedFd socket_;
  State state_ = State::kDialling;
  bool has_listened_ = false;
  Instant until_ = Instant::max();
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_TCP_LISTENER_WATCH_H_
