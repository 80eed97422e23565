#ifndef MUSTER_LAUNCHER_CLUSTER_KUBERNETES_POD_PLACE_H_
#define MUSTER_LAUNCHER_CLUSTER_KUBERNETES_POD_PLACE_H_

#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "launcher/options/defaults.h"

namespace muster::launcher {

// The value of an environment variable, with the variable's name as its origin;
// nullopt if the variable is unset or empty.
std::optional<FlagDefault> VariableSaid(
    const std::map<std::string, std::string>& environment,
    const std::string& name);

// The place of this pod in its set of pods (a Job or StatefulSet). The pods
// have stable names, SET-0, SET-1 …, in the domain of a headless service.
struct PodPlace {
  FlagDefault set;    // name of the Job or StatefulSet; empty: unknown
  FlagDefault index;  // this pod's number in the set
  // Host name of the pod that hosts the coordinator; empty: unknown.
  FlagDefault first;
  // Whether this pod hosts the coordinator; nullopt: unknown.
  std::optional<bool> is_first;
  std::string remark;  // notice for the user about an assumption; empty: none
};

// Reads the place of a pod of an Indexed Job (JOB_COMPLETION_INDEX), of a
// JobSet (additionally MUSTER_JOBSET_COORDINATOR) or of a StatefulSet
// (MUSTER_SERVICE, and a pod name that ends with the ordinal). nullopt: any
// other pod. InvalidArgument: the index is not a number. Pure.
absl::StatusOr<std::optional<PodPlace>> ReadPodPlace(
    const std::map<std::string, std::string>& environment);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_CLUSTER_KUBERNETES_POD_PLACE_H_
