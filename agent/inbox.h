#ifndef MUSTER_AGENT_INBOX_H_
#define MUSTER_AGENT_INBOX_H_

#include <mutex>
#include <vector>

#include "absl/status/status.h"
#include "agent/lifecycle/lifecycle_step.h"

namespace muster::agent {

// A queue of events from a link's threads to the agent's loop. Thread-safe.
class Inbox {
 public:
  Inbox();
  ~Inbox();
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  void Post(LifecycleEvent event);

  // Readable while the queue is not empty.
  int fd() const { return fd_; }
  std::vector<LifecycleEvent> TakeAll();

 private:
  const int fd_;  // an eventfd
  std::mutex mutex_;
  std::vector<LifecycleEvent> events_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_INBOX_H_
