#include "agent/cluster/kubernetes/kubernetes_defaults.h"

namespace muster {

bool InKubernetes(const std::map<std::string, std::string>& environment) {
  return environment.count("KUBERNETES_SERVICE_HOST") > 0;
}

absl::StatusOr<Defaults> KubernetesDefaults(
    const FlagValues&, const std::map<std::string, std::string>&) {
  return Defaults();
}

}  // namespace muster
