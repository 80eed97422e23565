#include "agent/preemption/requeue_command.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "base/environment_value.h"
#include "base/is_digits.h"

namespace muster::agent {
namespace {

// number of digits of 2^32 - 1, Slurm's greatest id
constexpr size_t kMaxDigits = 10;

std::string StateOf(const std::string& shown) {
  constexpr char kKey[] = "JobState=";
  const size_t key = shown.find(kKey);
  if (key == std::string::npos) return "";
  const size_t start = key + sizeof(kKey) - 1;
  return shown.substr(start, shown.find_first_of(" \n", start) - start);
}

}  // namespace

absl::StatusOr<std::vector<std::string>> RequeueCommand(
    const std::map<std::string, std::string>& environment) {
  const std::string task =
      EnvironmentValue(environment, "SLURM_ARRAY_TASK_ID").value_or("");
  const bool of_array = !task.empty();
  const char* const variable = of_array ? "SLURM_ARRAY_JOB_ID" : "SLURM_JOB_ID";
  const std::string job = EnvironmentValue(environment, variable).value_or("");
  if (job.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "--requeue: this is no Slurm job (", variable, " is not set)"));
  }
  if (!IsDigits(job, kMaxDigits) || (of_array && !IsDigits(task, kMaxDigits))) {
    return absl::FailedPreconditionError(absl::StrCat(
        "--requeue: ", variable, "=", job,
        of_array ? absl::StrCat(", SLURM_ARRAY_TASK_ID=", task) : "",
        ": that is no job's number"));
  }
  return std::vector<std::string>{
      "scontrol", "requeue", of_array ? absl::StrCat(job, "_", task) : job};
}

std::string AgainstRequeue(const std::string& shown) {
  const std::string state = StateOf(shown);
  // If Slurm's output `shown` has no state of the job, the requeue is
  // permitted: `scontrol requeue` will fail by itself and print the reason.
  if (state.empty()) return "";
  // A preempted job stays in one of these states during its partition's
  // GraceTime, and may be requeued.
  if (state == "RUNNING" || state == "SUSPENDED") return "";
  if (state == "PENDING") return "it is there already";
  if (HidesState(shown)) {
    return absl::StrCat("Slurm does not say whether it runs, but ", state);
  }
  return absl::StrCat("Slurm ends it for good (", state,
                      "): it was cancelled, or its time is over");
}

bool HidesState(const std::string& shown) {
  const std::string state = StateOf(shown);
  return state == "SIGNALING" || state == "RESIZING";
}

}  // namespace muster::agent
