#include "agent/cluster/slurm/slurm_defaults.h"

namespace muster {

bool InSlurm(const std::map<std::string, std::string>& environment) {
  return environment.count("SLURM_JOB_ID") > 0;
}

absl::StatusOr<Defaults> SlurmDefaults(
    const FlagValues&, const std::map<std::string, std::string>&) {
  return Defaults();
}

}  // namespace muster
