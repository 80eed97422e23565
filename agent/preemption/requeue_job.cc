#include "agent/preemption/requeue_job.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "agent/commands/tool_run.h"
#include "agent/logs/terminal_text.h"
#include "base/environment_value.h"
#include "base/is_digits.h"
#include "base/monotonic_clock.h"
#include "base/poll.h"
#include "rendezvous/protocol/failure.h"

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

// The time limit for answers of Slurm's controller, which may be busy: a
// preemption often affects many jobs.
constexpr Duration kSlurmTimeout = std::chrono::seconds(30);

// The maximum number of attempts at a query of Slurm's controller. An attempt
// fails if scontrol is killed: when Slurm preempts a job, it signals every
// process of a step, scontrol included.
constexpr int kTries = 3;

constexpr Duration kPause = std::chrono::milliseconds(100);

ToolOutcome Ask(const std::vector<std::string>& argv, Instant deadline) {
  for (int tries = 1;; ++tries) {
    ToolOutcome outcome = RunTool({.argv = argv,
                                   .deadline = deadline,
                                   .excess = ToolRequest::Excess::kForget});
    if (outcome.end != ToolOutcome::End::kFailed || tries == kTries) {
      return outcome;
    }
  }
}

// Runs the query `argv` again and again until its output shows the job's real
// state, or until kSlurmTimeout has passed.
ToolOutcome AskForState(const std::vector<std::string>& argv) {
  const Instant deadline = MonotonicNow() + kSlurmTimeout;
  for (;;) {
    ToolOutcome outcome = Ask(argv, deadline);
    if (!HidesState(outcome.output) || MonotonicNow() >= deadline) {
      return outcome;
    }
    PauseUntil(MonotonicNow() + kPause);
  }
}

absl::Status StatusOf(const ToolOutcome& outcome,
                      const std::vector<std::string>& argv) {
  std::string why;
  switch (outcome.end) {
    case ToolOutcome::End::kSucceeded:
      return absl::OkStatus();
    case ToolOutcome::End::kNotStarted:
      why = "there is no such program in PATH";
      break;
    case ToolOutcome::End::kCutOff:
      why = absl::StrCat("no answer within ", ToSeconds(kSlurmTimeout), " s");
      break;
    case ToolOutcome::End::kFailed:
      why = BoundedLine(outcome.output, rendezvous::kMaxLineBytes);
      break;
  }
  return absl::UnavailableError(
      absl::StrCat(absl::StrJoin(argv, " "), " failed: ", why));
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

absl::Status RequeueJob(const std::map<std::string, std::string>& environment) {
  const absl::StatusOr<std::vector<std::string>> command =
      RequeueCommand(environment);
  if (!command.ok()) return command.status();
  const std::vector<std::string> look = {"scontrol", "--oneliner", "show",
                                         "job", command->back()};
  const ToolOutcome shown = AskForState(look);
  // If the job's state cannot be read, the job is not requeued, because a user
  // may have cancelled it.
  absl::Status seen = StatusOf(shown, look);
  if (!seen.ok()) return seen;
  const std::string against = AgainstRequeue(shown.output);
  if (!against.empty()) {
    return absl::FailedPreconditionError(
        "the job is not put back into its queue: " + against);
  }
  return StatusOf(Ask(*command, MonotonicNow() + kSlurmTimeout), *command);
}

}  // namespace muster::agent
