#ifndef MUSTER_AGENT_SIGNAL_CATCHER_H_
#define MUSTER_AGENT_SIGNAL_CATCHER_H_

#include <signal.h>

#include <vector>

namespace muster::agent {

// Takes signals as readable events instead of interruptions. While it lives,
// they are blocked in the constructing thread and in those it creates. A signal
// that this process ignores stays ignored (base/ignored_signals.h).
class SignalCatcher {
 public:
  explicit SignalCatcher(const std::vector<int>& signals);
  ~SignalCatcher();  // Restores the thread's mask.
  SignalCatcher(const SignalCatcher&) = delete;
  SignalCatcher& operator=(const SignalCatcher&) = delete;

  int fd() const { return fd_; }
  // Those that came since, oldest first; does not block.
  std::vector<int> TakeAll();

 private:
  sigset_t before_;
  int fd_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_SIGNAL_CATCHER_H_
