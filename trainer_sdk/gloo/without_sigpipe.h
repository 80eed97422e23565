#ifndef MUSTER_TRAINER_SDK_GLOO_WITHOUT_SIGPIPE_H_
#define MUSTER_TRAINER_SDK_GLOO_WITHOUT_SIGPIPE_H_

#include <csignal>

namespace muster {

// While it lives, SIGPIPE is blocked in this thread, so that a write to a
// broken connection does not kill the process: Gloo writes without
// MSG_NOSIGNAL. Threads started meanwhile keep the signal blocked. The
// process's signal disposition is unchanged.
class WithoutSigpipe {
 public:
  WithoutSigpipe();
  ~WithoutSigpipe();
  WithoutSigpipe(const WithoutSigpipe&) = delete;
  WithoutSigpipe& operator=(const WithoutSigpipe&) = delete;

 private:
  sigset_t before_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_GLOO_WITHOUT_SIGPIPE_H_
