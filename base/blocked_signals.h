#ifndef MUSTER_BASE_BLOCKED_SIGNALS_H_
#define MUSTER_BASE_BLOCKED_SIGNALS_H_

#include <signal.h>

namespace muster {

// Blocks all signals in the calling thread, until the thread ends or changes
// its mask. Other threads of the process then handle the signals. A blocked
// SIGPIPE stays pending in this thread and is never delivered.
inline void BlockSignals() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
}

// Blocks all signals in the calling thread during the lifetime of the object,
// which must end in the same thread. A thread that is started meanwhile
// inherits the mask and handles no signal from its first instruction on.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace muster

#endif  // MUSTER_BASE_BLOCKED_SIGNALS_H_
