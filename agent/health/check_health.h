#ifndef MUSTER_AGENT_HEALTH_CHECK_HEALTH_H_
#define MUSTER_AGENT_HEALTH_CHECK_HEALTH_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/time.h"

namespace muster::agent {

struct HealthScope {
  // Where this node's job writes: logs, temporary files, checkpoints. Those
  // that are not there yet are judged by the nearest folder above them.
  std::vector<std::string> folders;
  // CUDA_VISIBLE_DEVICES of the workers-to-be; nullopt: not set.
  std::optional<std::string> visible_gpus;
  // How many GPUs the workers-to-be share out among themselves; 0: not known.
  // Those that visible_gpus names are needed in any case.
  int gpus_needed = 0;
  // Within which the answer comes, whatever a driver or a file system does.
  Duration timeout = std::chrono::seconds(60);
  // The machine, and NVIDIA's library; other ones in tests.
  std::string root = "/";
  std::string nvml_library = "libnvidia-ml.so.1";
};

// The built-in checks of --health-checks ("gpu", "disk", "memory", "shm") on
// this node: the errors among the findings of `launch doctor` that concern
// them. Reads only; takes milliseconds, with GPUs tens of them. Thread-safe.
//
// FailedPrecondition: the node is not fit; one line with the first reason and
// how many more there are. A driver or file system that does not answer within
// the timeout is such a reason. InvalidArgument: no such check.
absl::Status CheckHealth(const std::vector<std::string>& checks,
                         const HealthScope& scope);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_HEALTH_CHECK_HEALTH_H_
