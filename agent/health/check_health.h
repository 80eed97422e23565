#ifndef MUSTER_AGENT_HEALTH_CHECK_HEALTH_H_
#define MUSTER_AGENT_HEALTH_CHECK_HEALTH_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/time.h"

namespace muster::agent {

struct HealthScope {
  // The folders to which the job writes on this node: logs, temporary files,
  // checkpoints. For a folder that does not exist yet the nearest existing
  // parent is checked.
  std::vector<std::string> folders;
  // The CUDA_VISIBLE_DEVICES that the workers will have; nullopt: not set.
  std::optional<std::string> visible_gpus;
  // The number of GPUs that the workers need together; 0: unknown. Whatever
  // this number is, the check fails if a GPU that visible_gpus names does not
  // exist.
  int gpus_needed = 0;
  // The time limit of the whole check, even if a driver or a file system hangs.
  Duration timeout = std::chrono::seconds(60);
  // The machine's root folder and the path of NVIDIA's library; tests replace
  // both.
  std::string root = "/";
  std::string nvml_library = "libnvidia-ml.so.1";
};

// Runs the built-in checks of --health-checks ("gpu", "disk", "memory", "shm")
// on this node. The node is unhealthy if `launch doctor` would report an error
// that belongs to one of these checks. Reads only; takes milliseconds, with
// GPUs tens of milliseconds. Thread-safe.
//
// FailedPrecondition: the node is unhealthy. The message is one line with the
// first reason and the number of further reasons. A driver or file system that
// does not answer before the timeout is also a reason. InvalidArgument: unknown
// check.
absl::Status CheckHealth(const std::vector<std::string>& checks,
                         const HealthScope& scope);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_HEALTH_CHECK_HEALTH_H_
