#ifndef MUSTER_TRAINER_SDK_GLOO_WITHOUT_SIGPIPE_H_
#define MUSTER_TRAINER_SDK_GLOO_WITHOUT_SIGPIPE_H_

#include <csignal>

namespace muster {

// While it lives, a write to a connection that the peer broke does not end the
// process: Gloo writes without MSG_NOSIGNAL. For this thread, and for those
// started meanwhile for good; the process's disposition stays as it is.
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
