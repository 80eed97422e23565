#include "agent/preemption/requeue_job.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "agent/commands/tool_run.h"
#include "agent/failures/bounded_text.h"
#include "agent/preemption/requeue_command.h"
#include "base/monotonic_clock.h"
#include "rendezvous/protocol/failure.h"

namespace muster {
namespace {

// Slurm's controller may be busy: a preemption is seldom one job's.
constexpr Duration kPatience = std::chrono::seconds(30);

}  // namespace

absl::Status RequeueJob(const std::map<std::string, std::string>& environment) {
  const absl::StatusOr<std::vector<std::string>> command =
      RequeueCommand(environment);
  if (!command.ok()) return command.status();
  const ToolOutcome shown = RunTool(
      {.argv = {"scontrol", "--oneliner", "show", "job", command->back()},
       .deadline = MonotonicNow() + kPatience});
  const std::string against = AgainstRequeue(shown.output);
  if (!against.empty()) {
    return absl::FailedPreconditionError(
        "the job is not put back into its queue: " + against);
  }
  const ToolOutcome outcome = RunTool({.argv = *command,
                                       .deadline = MonotonicNow() + kPatience,
                                       .excess = ToolRequest::Excess::kForget});
  std::string why;
  switch (outcome.end) {
    case ToolOutcome::End::kSucceeded:
      return absl::OkStatus();
    case ToolOutcome::End::kNotStarted:
      why = "there is no such program in PATH";
      break;
    case ToolOutcome::End::kCutOff:
      why = absl::StrCat("no answer within ", ToSeconds(kPatience), " s");
      break;
    case ToolOutcome::End::kFailed:
      why = BoundedLine(outcome.output, kMostLineBytes);
      break;
  }
  return absl::UnavailableError(
      absl::StrCat(absl::StrJoin(*command, " "), " failed: ", why));
}

}  // namespace muster
