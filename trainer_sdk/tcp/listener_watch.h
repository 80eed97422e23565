#ifndef MUSTER_TRAINER_SDK_TCP_LISTENER_WATCH_H_
#define MUSTER_TRAINER_SDK_TCP_LISTENER_WATCH_H_

#include <poll.h>
#include <sys/socket.h>

#include <string>

#include "absl/status/status.h"
#include "base/owned_fd.h"
#include "base/time.h"

namespace muster {

// Notices the end of a process that listens and has not called yet, by a
// connection to its listener that says nothing: its process need not even take
// it. Whoever takes it hangs up some time, as on any stranger, and is dialled
// again; where that is refused, nobody listens any more.
//
// Whose listener cannot be reached is not watched. It is not known of one that
// refuses from the beginning whether it is gone or something on the way turns
// callers away, so such a one still has `patience` to call.
class ListenerWatch {
 public:
  // Dials. `who`: for the error.
  ListenerWatch(const sockaddr_storage& address, socklen_t length,
                std::string who, Duration patience, Instant now);

  // What to poll, and until when at most, before the next Look.
  pollfd polled() const;
  Instant until() const { return until_; }

  // Takes in what happened. Unavailable: nobody listens there.
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
