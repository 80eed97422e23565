#ifndef MUSTER_AGENT_PREEMPTION_PREEMPTION_OPTIONS_H_
#define MUSTER_AGENT_PREEMPTION_PREEMPTION_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"

namespace muster::agent {

// Whether a preempted job goes back into its cluster's queue.
enum class Requeue { kNo, kYes };

// What happens when the cluster takes the nodes away.
struct PreemptionOptions {
  std::vector<int> signals;  // that announce it
  int worker_signal = 15;    // what workers get; 0: none
  Duration grace = std::chrono::seconds(120);
  std::string command;  // for `sh -c`, on each node; empty: none
  Requeue requeue = Requeue::kNo;
};

// The notices that workers ignore until they take them themselves: Slurm sends
// its signals to every process of a step, and a worker that has been promised
// time and another signal must not die of them. Bit n - 1 is signal n.
uint64_t IgnoredByWorkers(const PreemptionOptions& options);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_PREEMPTION_PREEMPTION_OPTIONS_H_
