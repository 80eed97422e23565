#include "agent/preemption/requeue_job.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "agent/commands/tool_run.h"
#include "agent/failures/bounded_text.h"
#include "agent/preemption/requeue_command.h"
#include "base/monotonic_clock.h"
#include "base/poll.h"
#include "rendezvous/protocol/failure.h"

namespace muster::agent {
namespace {

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
