#include "agent/lifecycle/agent_policy.h"

#include <algorithm>
#include <csignal>

namespace muster::agent {

bool EndsJob(int signal, const std::vector<int>& handled,
             const std::vector<int>& forwarded,
             const std::vector<int>& preempting) {
  if (std::ranges::count(preempting, signal) > 0) return true;
  if (std::ranges::count(forwarded, signal) > 0) return false;
  return signal == SIGINT || signal == SIGTERM || signal == SIGHUP ||
         signal == SIGQUIT || std::ranges::count(handled, signal) > 0;
}

}  // namespace muster::agent
