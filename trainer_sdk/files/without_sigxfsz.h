#ifndef MUSTER_TRAINER_SDK_FILES_WITHOUT_SIGXFSZ_H_
#define MUSTER_TRAINER_SDK_FILES_WITHOUT_SIGXFSZ_H_

#include <signal.h>

namespace muster {

// While it lives, a file of the calling thread that grows beyond the process's
// size limit makes the write fail; otherwise SIGXFSZ would kill the process.
class WithoutSigxfsz {
 public:
  WithoutSigxfsz();
  ~WithoutSigxfsz();
  WithoutSigxfsz(const WithoutSigxfsz&) = delete;
  WithoutSigxfsz& operator=(const WithoutSigxfsz&) = delete;

 private:
  sigset_t before_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_FILES_WITHOUT_SIGXFSZ_H_
