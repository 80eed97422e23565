#include "launcher/options/core_remark.h"

#include "absl/strings/str_cat.h"
#include "base/environment_value.h"

namespace muster::launcher {
namespace {

constexpr int kMaxWithoutGpus = 4;  // workers on a core

bool HasGpus(const WorkerSlots& slots, const MachineFacts& facts) {
  if (slots.gpus_needed > 0 || !facts.gpus.empty()) return true;
  const std::string visible =
      NonEmptyEnvironmentValue(facts.environment, "CUDA_VISIBLE_DEVICES")
          .value_or("-1");
  // A number or an id; whoever hides all of them writes -1 or another word.
  return (visible[0] >= '0' && visible[0] <= '9') ||
         visible.rfind("GPU-", 0) == 0 || visible.rfind("MIG-", 0) == 0;
}

}  // namespace

std::string CoreRemark(const WorkerSlots& slots, const MachineFacts& facts) {
  const int most = HasGpus(slots, facts) ? 1 : kMaxWithoutGpus;
  if (slots.count <= int64_t{most} * facts.cores) return "";
  const bool is_slurm =
      NonEmptyEnvironmentValue(facts.environment, "SLURM_JOB_ID").has_value();
  return absl::StrCat(
      slots.count, " workers on ", facts.host_name, " have ", facts.cores,
      facts.cores == 1 ? " core" : " cores", " to run on; ",
      is_slurm ? "ask Slurm for more: #SBATCH --exclusive, or --cpus-per-gpu=N"
               : "look at taskset, or at what the container is given");
}

}  // namespace muster::launcher
