#ifndef MUSTER_AGENT_CLUSTER_KUBERNETES_KUBERNETES_DEFAULTS_H_
#define MUSTER_AGENT_CLUSTER_KUBERNETES_KUBERNETES_DEFAULTS_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "agent/options/defaults.h"
#include "agent/options/flag_values.h"

namespace muster {

// Whether this process is in one of Kubernetes's jobs.
bool InKubernetes(const std::map<std::string, std::string>& environment);

// What Kubernetes's environment says of a run, where `given` does not. Pure.
absl::StatusOr<Defaults> KubernetesDefaults(
    const FlagValues& given,
    const std::map<std::string, std::string>& environment);

}  // namespace muster

#endif  // MUSTER_AGENT_CLUSTER_KUBERNETES_KUBERNETES_DEFAULTS_H_
