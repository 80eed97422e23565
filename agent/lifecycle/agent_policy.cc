#include "agent/lifecycle/agent_policy.h"

#include <algorithm>
#include <csignal>

namespace muster::agent {
namespace {

bool Holds(const std::vector<int>& signals, int signal) {
  return std::find(signals.begin(), signals.end(), signal) != signals.end();
}

}  // namespace

bool EndsJob(int signal, const std::vector<int>& handled,
             const std::vector<int>& forwarded,
             const std::vector<int>& preempting) {
  if (Holds(preempting, signal)) return true;
  if (Holds(forwarded, signal)) return false;
  return signal == SIGINT || signal == SIGTERM || signal == SIGHUP ||
         signal == SIGQUIT || Holds(handled, signal);
}

}  // namespace muster::agent
