#ifndef MUSTER_AGENT_PAIR_CHECK_COMPUTE_KERNEL_H_
#define MUSTER_AGENT_PAIR_CHECK_COMPUTE_KERNEL_H_

namespace muster::agent {

// Performs a fixed amount of arithmetic on each core on which this process may
// run, on all of them at the same time. A core's time is the shortest of many
// repetitions, so that short interruptions do not count. Returns the time of
// the slowest core in seconds. 0: no thread could be started. Blocks for tens
// of milliseconds on an idle machine.
double TimeComputeKernel();

}  // namespace muster::agent

#endif  // MUSTER_AGENT_PAIR_CHECK_COMPUTE_KERNEL_H_
