#ifndef MUSTER_LAUNCHER_CLUSTER_KUBERNETES_KUBERNETES_DEFAULTS_H_
#define MUSTER_LAUNCHER_CLUSTER_KUBERNETES_KUBERNETES_DEFAULTS_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "launcher/options/command_line.h"
#include "launcher/options/defaults.h"

namespace muster::launcher {

// Whether this process runs in a pod.
bool InKubernetes(const std::map<std::string, std::string>& environment);

// Reads, from a pod's environment, the defaults of the flags that `given` does
// not contain. Kubernetes sets JOB_COMPLETION_INDEX, HOSTNAME and, if a device
// plugin assigned GPUs, NVIDIA_VISIBLE_DEVICES. The manifests in
// deploy/kubernetes set the MUSTER_ variables with the downward API.
// docs/KUBERNETES.md lists all these variables.
//
// If the pod runs alone, only defaults that concern this node are returned.
// InvalidArgument: a variable is invalid, or there are several pods but no
// variable or flag gives their rendezvous endpoint. Pure.
absl::StatusOr<Defaults> KubernetesDefaults(
    const FlagValues& given,
    const std::map<std::string, std::string>& environment);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_CLUSTER_KUBERNETES_KUBERNETES_DEFAULTS_H_
