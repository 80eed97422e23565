#include "trainer_sdk/session/stop_request.h"

#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>

#include "base/check.h"
#include "trainer_sdk/process_group/operations.h"

namespace muster {
namespace {

// What a signal handler may touch.
volatile std::sig_atomic_t asked = 0;

void OnSignal(int /*signal*/) { asked = 1; }

}  // namespace

void StopRequest::Listen() {
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  // System calls under way go on: nobody is prepared for EINTR because of us.
  action.sa_flags = SA_RESTART;
  MUSTER_CHECK(sigaction(SIGTERM, &action, nullptr) == 0);
}

bool StopRequest::Asked() {
  if (asked != 0) return true;
  const char* const notice = std::getenv("MUSTER_PREEMPTION_FILE");
  return notice != nullptr && notice[0] != '\0' && access(notice, F_OK) == 0;
}

absl::StatusOr<bool> StopRequest::AskedAnyone(ProcessGroup& world) {
  int32_t anyone = Asked() ? 1 : 0;
  const absl::Status status =
      world.Run(AllReduce(&anyone, &anyone, 1, DType::kInt32, ReduceOp::kMax));
  if (!status.ok()) return status;
  return anyone != 0;
}

}  // namespace muster
