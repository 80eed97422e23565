#include "launcher/slurm/slurm_step.h"

#include <sstream>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "agent/commands/tool_run.h"
#include "base/monotonic_clock.h"

namespace muster::launcher {
namespace {

constexpr Duration kPatience = std::chrono::seconds(10);

agent::ToolOutcome Run(std::vector<std::string> argv) {
  agent::ToolRequest request;
  request.argv = std::move(argv);
  request.deadline = MonotonicNow() + kPatience;
  return agent::RunTool(request);
}

}  // namespace

std::string FindStep(const std::string& squeue, const std::string& name) {
  std::istringstream lines(squeue);
  for (std::string line; std::getline(lines, line);) {
    const size_t bar = line.find('|');
    if (bar != std::string::npos && line.substr(bar + 1) == name) {
      return line.substr(0, bar);
    }
  }
  return "";
}

bool EndsAnyway(const std::string& said) {
  return absl::StrContains(said, "Invalid job id") ||
         absl::StrContains(said, "already completing or completed");
}

std::string SignalStep(const std::string& job_id, const std::string& name,
                       int signal) {
  const agent::ToolOutcome listed = Run({"squeue", "--noheader", "--steps",
                                         "--jobs=" + job_id, "--format=%i|%j"});
  if (EndsAnyway(listed.output)) return "";
  if (listed.end != agent::ToolOutcome::End::kSucceeded) {
    return absl::StrCat("squeue does not tell the job's steps: ",
                        listed.output);
  }
  const std::string step = FindStep(listed.output, name);
  if (step.empty()) return "the step has not begun";
  const agent::ToolOutcome sent =
      Run({"scancel", absl::StrCat("--signal=", signal), step});
  if (sent.end == agent::ToolOutcome::End::kSucceeded ||
      EndsAnyway(sent.output)) {
    return "";
  }
  return absl::StrCat("scancel does not reach step ", step, ": ", sent.output);
}

}  // namespace muster::launcher
