#include "rendezvous/grpc/grpc_setup.h"

#include <absl/synchronization/mutex.h>
#include <grpc/grpc.h>
#include <grpc/support/log.h>

#include <cstdlib>
#include <mutex>

namespace muster::rendezvous {

void SetUpGrpc() {
  static std::once_flag once;
  std::call_once(once, [] {
    absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
    if (std::getenv("GRPC_VERBOSITY") == nullptr) {
      gpr_set_log_function([](gpr_log_func_args*) {});
    }
    grpc_init();  // never grpc_shutdown, see grpc_setup.h
  });
}

}  // namespace muster::rendezvous
