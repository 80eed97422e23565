#ifndef MUSTER_LAUNCHER_CLUSTER_KUBERNETES_POD_PLACE_H_
#define MUSTER_LAUNCHER_CLUSTER_KUBERNETES_POD_PLACE_H_

#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "launcher/options/defaults.h"

namespace muster::launcher {

// The value of a variable, with the variable's name as the origin; nullopt if
// it is unset or empty.
std::optional<FlagDefault> VariableSaid(
    const std::map<std::string, std::string>& environment,
    const std::string& name);

// The place of this pod in its set of pods (a Job or StatefulSet). The pods
// have stable names, SET-0, SET-1 …, in the domain of a headless service.
struct PodPlace {
  FlagDefault set;    // the Job's or StatefulSet's name; empty: not known
  FlagDefault index;  // this pod's number in it
  FlagDefault first;  // the host name of the pod that hosts the coordinator;
                      // empty: not known
  std::optional<bool> is_first;  // whether that is this pod, if known
  std::string remark;            // what was taken for granted; empty: nothing
};

// Reads the place of a pod of an Indexed Job (JOB_COMPLETION_INDEX), of a
// JobSet (MUSTER_JOBSET_COORDINATOR besides) and of a StatefulSet
// (MUSTER_SERVICE and a name that ends in the ordinal); nullopt for any other
// pod. InvalidArgument: an index that is no number. Pure.
absl::StatusOr<std::optional<PodPlace>> ReadPodPlace(
    const std::map<std::string, std::string>& environment);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_CLUSTER_KUBERNETES_POD_PLACE_H_
