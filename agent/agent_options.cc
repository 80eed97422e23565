#include "agent/agent_options.h"

#include <csignal>

namespace muster::agent {

uint64_t IgnoredByWorkers(const PreemptionOptions& options) {
  uint64_t ignored = 0;
  for (const int number : options.signals) {
    // SIGTERM, SIGINT, SIGHUP and SIGQUIT also stop workers, so workers must
    // not ignore these signals.
    const bool stops = number == SIGTERM || number == SIGINT ||
                       number == SIGHUP || number == SIGQUIT;
    if (!stops && number != options.worker_signal) {
      ignored |= uint64_t{1} << (number - 1);
    }
  }
  return ignored;
}

}  // namespace muster::agent
