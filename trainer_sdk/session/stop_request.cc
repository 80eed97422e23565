#include "trainer_sdk/session/stop_request.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>

#include "base/check.h"
#include "base/monotonic_clock.h"
#include "base/time.h"
#include "trainer_sdk/process_group/operations.h"

namespace muster {
namespace {

// A further SIGINT within this time after the first one belongs to the same
// Ctrl-C. Under torchrun a process may get SIGINT from the terminal and again
// from torchrun, which forwards it.
constexpr Duration kOneCtrlC = std::chrono::seconds(1);

// Set to 1 by the signal handler when this process is asked to stop.
volatile std::sig_atomic_t asked = 0;
// Time of the first SIGINT, in ticks of the clock of MonotonicNow; 0: there was
// none.
std::atomic<Instant::rep> interrupted{0};
static_assert(std::atomic<Instant::rep>::is_always_lock_free);

void OnSignal(int signal) {
  asked = 1;
  if (signal != SIGINT) return;
  const Instant::rep now = MonotonicNow().time_since_epoch().count();
  Instant::rep first = 0;
  if (interrupted.compare_exchange_strong(first, now)) return;
  if (Duration(now - first) < kOneCtrlC) return;
  std::signal(SIGINT, SIG_DFL);
  // Ends the process as an unhandled SIGINT would. The new SIGINT is pending
  // until the handler returns, because a signal is blocked while its own
  // handler runs.
  std::raise(SIGINT);
}

void Take(int signal) {
  struct sigaction action = {};
  MUSTER_CHECK(sigaction(signal, nullptr, &action) == 0);
  // A SIGINT that is ignored, as in a background job of a shell, stays ignored.
  if (signal == SIGINT && action.sa_handler == SIG_IGN) return;
  action = {};
  action.sa_handler = OnSignal;
  // SA_RESTART: interrupted system calls are restarted, because the program's
  // code may not expect EINTR.
  action.sa_flags = SA_RESTART;
  MUSTER_CHECK(sigaction(signal, &action, nullptr) == 0);
}

}  // namespace

void StopRequest::Listen() {
  Take(SIGTERM);
  Take(SIGINT);
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
