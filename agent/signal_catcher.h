#ifndef MUSTER_AGENT_SIGNAL_CATCHER_H_
#define MUSTER_AGENT_SIGNAL_CATCHER_H_

#include <signal.h>

#include <vector>

namespace muster::agent {

// Makes signals readable as events on a descriptor. While this object exists,
// the signals are blocked in the thread that constructed it and in its new
// threads. A signal that this process ignores stays ignored
// (base/ignored_signals.h).
class SignalCatcher {
 public:
  explicit SignalCatcher(const std::vector<int>& signals);
  ~SignalCatcher();  // restores the thread's signal mask
  SignalCatcher(const SignalCatcher&) = delete;
  SignalCatcher& operator=(const SignalCatcher&) = delete;

  int fd() const { return fd_; }
  // Returns the signals that arrived since the last call, oldest first; does
  // not block.
  std::vector<int> TakeAll();

 private:
  sigset_t before_;
  int fd_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_SIGNAL_CATCHER_H_
