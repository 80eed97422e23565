#include "trainer_sdk/gloo/without_sigpipe.h"

#include <cerrno>
#include <ctime>

namespace muster {
namespace {

sigset_t Sigpipe() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  return set;
}

}  // namespace

WithoutSigpipe::WithoutSigpipe() {
  const sigset_t blocked = Sigpipe();
  pthread_sigmask(SIG_BLOCK, &blocked, &before_);
}

WithoutSigpipe::~WithoutSigpipe() {
  const int error = errno;
  if (sigismember(&before_, SIGPIPE) == 0) {
    // A pending SIGPIPE would be delivered when the mask is restored. SIGPIPE
    // is sent to the writing thread, so it came from this scope.
    const sigset_t blocked = Sigpipe();
    const timespec at_once{};
    while (sigtimedwait(&blocked, nullptr, &at_once) < 0 && errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  errno = error;
}

}  // namespace muster
