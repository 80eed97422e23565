#include "launcher/cluster/cluster_defaults.h"

#include "launcher/cluster/kubernetes/kubernetes_defaults.h"
#include "launcher/cluster/slurm/slurm_defaults.h"

namespace muster::launcher {
namespace {

absl::StatusOr<Defaults> Of(Cluster cluster,
                            absl::StatusOr<Defaults> defaults) {
  if (defaults.ok()) defaults->cluster = cluster;
  return defaults;
}

}  // namespace

absl::StatusOr<Defaults> ClusterDefaults(
    const FlagValues& given,
    const std::map<std::string, std::string>& environment) {
  const std::string mode = given.Text("cluster");
  if (mode == "slurm" && !InSlurm(environment)) {
    return absl::InvalidArgumentError(
        "--cluster=slurm: this process is in no Slurm job (SLURM_JOB_ID is not "
        "set); run it by sbatch, salloc or srun");
  }
  if (mode == "kubernetes" && !InKubernetes(environment)) {
    return absl::InvalidArgumentError(
        "--cluster=kubernetes: this process is in no pod "
        "(KUBERNETES_SERVICE_HOST is not set)");
  }
  // With --hostfile the job runs on the hosts of that file. The cluster's
  // variables do not describe these hosts.
  if (mode == "none" || given.IsGiven("hostfile")) return Defaults();
  if (given.IsGiven("standalone") && given.Text("standalone") != "0") {
    return Defaults();
  }
  // Slurm first: a Slurm cluster may itself run in Kubernetes pods.
  if (mode != "kubernetes" && InSlurm(environment)) {
    return Of(Cluster::kSlurm, SlurmDefaults(given, environment));
  }
  if (mode != "slurm" && InKubernetes(environment)) {
    return Of(Cluster::kKubernetes, KubernetesDefaults(given, environment));
  }
  return Defaults();
}

}  // namespace muster::launcher
