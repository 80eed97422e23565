#include "launcher/slurm/slurm_steps.h"

#include <sstream>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "agent/commands/tool_run.h"
#include "base/monotonic_clock.h"
#include "launcher/cluster/slurm/host_list.h"
#include "launcher/cluster/slurm/slurm_place.h"
#include "launcher/options/option_values.h"

namespace muster::launcher {
namespace {

constexpr Duration kSlurmTimeout = std::chrono::seconds(10);

agent::ToolOutcome Run(std::vector<std::string> argv) {
  return agent::RunTool(
      {.argv = std::move(argv), .deadline = MonotonicNow() + kSlurmTimeout});
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

namespace {

constexpr int64_t kLargestId = 4'294'967'295;

struct Step {
  bool is_launch = false;
  uint64_t number = 0;
  std::string nodes;

  auto Order() const { return std::tuple(!is_launch, number); }
};

// Parses a line of squeue's output: "7.0|launch|n[1-4]", or "5_3.0|..." for a
// task of a job array. nullopt: the line is a step of another job, a batch
// script, or not a step.
std::optional<Step> ReadStep(const std::string& line, const SlurmJob& job) {
  const size_t bar = line.find('|');
  const size_t last_bar = line.rfind('|');
  if (bar == std::string::npos || bar == last_bar) return std::nullopt;
  const std::string id = line.substr(0, bar);
  const size_t dot = id.rfind('.');
  if (dot == std::string::npos) return std::nullopt;
  const std::string owner = id.substr(0, dot);
  const absl::StatusOr<int64_t> number =
      ReadNumber(id.substr(dot + 1), 0, kLargestId);
  if (!number.ok()) return std::nullopt;
  if (owner != job.name && owner != absl::StrCat(job.number)) {
    return std::nullopt;
  }
  // The name of a Slurm step is the program's name, except for the step of
  // `launch --slurm`: its name is "launch-" and a process id.
  const std::string name = line.substr(bar + 1, last_bar - bar - 1);
  return Step{.is_launch = name == "launch" || name.rfind("launch-", 0) == 0,
              .number = static_cast<uint64_t>(*number),
              .nodes = line.substr(last_bar + 1)};
}

absl::StatusOr<std::string> AskSlurm(const std::string& job,
                                     std::vector<std::string> argv) {
  argv.insert(argv.begin(), {"squeue", "--noheader", "--jobs=" + job});
  agent::ToolOutcome asked = Run(std::move(argv));
  if (asked.end == agent::ToolOutcome::End::kSucceeded) return asked.output;
  while (!asked.output.empty() && asked.output.back() == '\n') {
    asked.output.pop_back();
  }
  return absl::UnavailableError(absl::StrCat(
      "squeue does not tell where job ", job,
      " is: ", asked.output.empty() ? "it cannot be run" : asked.output,
      "; write --endpoint=HOST:PORT"));
}

}  // namespace

absl::StatusOr<SlurmJob> FindJob(const std::string& squeue,
                                 const std::string& asked) {
  std::istringstream lines(squeue);
  for (std::string line; std::getline(lines, line);) {
    const size_t bar = line.find('|');
    if (bar == std::string::npos) continue;
    const absl::StatusOr<int64_t> number =
        ReadNumber(line.substr(0, bar), 1, kLargestId);
    if (!number.ok()) continue;
    SlurmJob job{.number = static_cast<uint64_t>(*number),
                 .name = line.substr(bar + 1)};
    if (asked == job.name || asked == absl::StrCat(job.number)) return job;
  }
  return absl::NotFoundError(
      absl::StrCat("Slurm's job ", asked, " does not run; see squeue"));
}

absl::StatusOr<rendezvous::Endpoint> EndpointOfSteps(
    const std::string& squeue, const SlurmJob& job,
    std::optional<uint64_t> asking) {
  std::optional<Step> found;
  std::istringstream lines(squeue);
  for (std::string line; std::getline(lines, line);) {
    std::optional<Step> step = ReadStep(line, job);
    if (!step || step->number == asking) continue;
    if (!found || step->Order() < found->Order()) found = std::move(step);
  }
  if (!found) {
    return absl::NotFoundError(absl::StrCat(
        "Slurm's job ", job.name,
        " has no step that runs; where launch was started without srun and "
        "without --slurm, write --endpoint=HOST:PORT"));
  }
  const absl::StatusOr<std::vector<std::string>> hosts =
      ExpandHostList(found->nodes);
  if (!hosts.ok() || hosts->empty()) {
    return absl::NotFoundError(absl::StrCat(
        "step ", job.name, ".", found->number, " is on the nodes '",
        found->nodes, "'; write --endpoint=HOST:PORT"));
  }
  return rendezvous::Endpoint{hosts->front(),
                              SlurmPort(job.number, found->number)};
}

absl::StatusOr<SlurmCoordinator> FindCoordinator(
    const std::string& job, std::optional<uint64_t> asking) {
  const absl::StatusOr<std::string> jobs =
      AskSlurm(job, {"--states=running", "--format=%A|%i"});
  if (!jobs.ok()) return jobs.status();
  const absl::StatusOr<SlurmJob> found = FindJob(*jobs, job);
  if (!found.ok()) return found.status();
  const absl::StatusOr<std::string> steps =
      AskSlurm(job, {"--steps", "--format=%i|%j|%N"});
  if (!steps.ok()) return steps.status();
  absl::StatusOr<rendezvous::Endpoint> endpoint =
      EndpointOfSteps(*steps, *found, asking);
  if (!endpoint.ok()) return endpoint.status();
  return SlurmCoordinator{found->number, *std::move(endpoint)};
}

std::vector<std::string> OnHostOf(const SlurmCoordinator& coordinator,
                                  const std::vector<std::string>& command) {
  std::vector<std::string> argv = {"srun",
                                   absl::StrCat("--jobid=", coordinator.job),
                                   "--overlap",
                                   "--quiet",
                                   "--nodes=1",
                                   "--ntasks=1",
                                   "--nodelist=" + coordinator.endpoint.host};
  argv.insert(argv.end(), command.begin(), command.end());
  return argv;
}

}  // namespace muster::launcher
