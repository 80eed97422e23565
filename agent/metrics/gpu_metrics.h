#ifndef MUSTER_AGENT_METRICS_GPU_METRICS_H_
#define MUSTER_AGENT_METRICS_GPU_METRICS_H_

#include "agent/gpus/gpu_values.h"
#include "rendezvous/metrics/exposition.h"

namespace muster::agent {

// Values that are older than this are not shown: a stale value would look like
// a current one.
inline constexpr Duration kMaxGpuValueAge = std::chrono::minutes(1);

// Adds the metrics of a node's GPUs, named muster_gpu_*, with DCGM's labels
// `gpu` (index) and `UUID`. A value that a GPU does not report has no sample,
// and a metric that no GPU reports is absent. Nothing is added for a node
// without a driver. O(GPUs). Pure.
void AddGpuMetrics(const GpuSnapshot& snapshot, rendezvous::Exposition& page);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_METRICS_GPU_METRICS_H_
