#ifndef MUSTER_LAUNCHER_CLUSTER_KUBERNETES_KUBERNETES_DEFAULTS_H_
#define MUSTER_LAUNCHER_CLUSTER_KUBERNETES_KUBERNETES_DEFAULTS_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "launcher/options/defaults.h"
#include "launcher/options/flag_values.h"

namespace muster::launcher {

// Whether this process is in a pod.
bool InKubernetes(const std::map<std::string, std::string>& environment);

// What a pod's environment says of a run, where `given` does not. Kubernetes
// sets JOB_COMPLETION_INDEX, HOSTNAME and, where a device plugin gave GPUs,
// NVIDIA_VISIBLE_DEVICES; the manifests in deploy/kubernetes add the variables
// called MUSTER_ by the downward API. docs/KUBERNETES.md has the table.
//
// A pod that nothing says to be one of several gets nothing. InvalidArgument:
// a variable that makes no sense, or several pods and nothing that says where
// they meet. Pure.
absl::StatusOr<Defaults> KubernetesDefaults(
    const FlagValues& given,
    const std::map<std::string, std::string>& environment);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_CLUSTER_KUBERNETES_KUBERNETES_DEFAULTS_H_
