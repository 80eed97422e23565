#include "trainer_sdk/files/without_sigxfsz.h"

#include <ctime>

namespace muster {
namespace {

sigset_t OnlySigxfsz() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGXFSZ);
  return signals;
}

}  // namespace

WithoutSigxfsz::WithoutSigxfsz() {
  const sigset_t signals = OnlySigxfsz();
  pthread_sigmask(SIG_BLOCK, &signals, &before_);
}

WithoutSigxfsz::~WithoutSigxfsz() {
  // The kernel sends SIGXFSZ to the writing thread. A pending one would be
  // delivered when it is unblocked, so it is consumed here.
  if (sigismember(&before_, SIGXFSZ) == 0) {
    const sigset_t signals = OnlySigxfsz();
    const timespec at_once = {};
    while (sigtimedwait(&signals, nullptr, &at_once) > 0) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace muster
