#ifndef MUSTER_AGENT_GUARDIAN_WAKE_SET_H_
#define MUSTER_AGENT_GUARDIAN_WAKE_SET_H_

#include <chrono>

#include "absl/status/status.h"
#include "base/owned_fd.h"

namespace muster::agent {

// Several descriptors and an alarm behind one descriptor that can be polled.
class WakeSet {
 public:
  // Internal: no descriptor is left.
  absl::Status Open();

  // Readable while one that is watched is, or from when the alarm is due.
  int fd() const { return epoll_.get(); }

  // Descriptors that are closed (-1) are passed over.
  absl::Status Watch(int fd);
  void Forget(int fd);

  // Sets the one alarm, in place of an earlier one.
  void RingAfter(std::chrono::nanoseconds wait);
  // Makes a due alarm silent.
  void Silence();

 private:
  OwnedFd epoll_;
  OwnedFd timer_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GUARDIAN_WAKE_SET_H_
