#ifndef MUSTER_AGENT_GUARDIAN_WAKE_SET_H_
#define MUSTER_AGENT_GUARDIAN_WAKE_SET_H_

#include <chrono>

#include "absl/status/status.h"
#include "base/owned_fd.h"

namespace muster::agent {

// Several descriptors and one timer behind one descriptor for poll().
class WakeSet {
 public:
  // Internal: no free descriptor.
  absl::Status Open();

  // Readable while a watched descriptor is readable, or once the timer has
  // expired.
  int fd() const { return epoll_.get(); }

  // Ignores a closed descriptor (-1).
  absl::Status Watch(int fd);
  void Forget(int fd);

  // Sets the timer, in place of an earlier setting.
  void RingAfter(std::chrono::nanoseconds wait);
  // Clears an expired timer.
  void Silence();

 private:
  OwnedFd epoll_;
  OwnedFd timer_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GUARDIAN_WAKE_SET_H_
