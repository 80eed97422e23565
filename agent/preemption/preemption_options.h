#ifndef MUSTER_AGENT_PREEMPTION_PREEMPTION_OPTIONS_H_
#define MUSTER_AGENT_PREEMPTION_PREEMPTION_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"

namespace muster::agent {

// Whether a preempted job is put back into its cluster's queue.
enum class Requeue { kNo, kYes };

// The configured behaviour at a preemption.
struct PreemptionOptions {
  std::vector<int> signals;  // signals that announce a preemption
  // signal that the workers get at a preemption; 0: none
  int worker_signal = 15;
  Duration grace = std::chrono::seconds(120);
  std::string command;  // command run by `sh -c` on each node; empty: none
  Requeue requeue = Requeue::kNo;

  bool operator==(const PreemptionOptions&) const = default;
};

// The signals that workers ignore until they install a handler; bit n - 1 is
// signal n. Slurm sends the signals of a preemption to every process of a step.
// These signals must not kill a worker during its grace period.
uint64_t IgnoredByWorkers(const PreemptionOptions& options);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_PREEMPTION_PREEMPTION_OPTIONS_H_
