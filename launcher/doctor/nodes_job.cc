#include "launcher/doctor/nodes_job.h"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "agent/commands/tool_run.h"
#include "agent/report/text_style.h"
#include "base/monotonic_clock.h"
#include "launcher/doctor/doctor_text.h"
#include "launcher/doctor/outcome_file.h"

namespace muster {
namespace {

std::string Variable(const std::map<std::string, std::string>& environment,
                     const char* name, const char* fallback) {
  const auto found = environment.find(name);
  return found == environment.end() || found->second.empty() ? fallback
                                                             : found->second;
}

// Somebody is waiting for the page: a node that has not come by then will not.
constexpr char kMeeting[] = "--rdzv-conf=join_timeout=60";
constexpr int kNotTogether = 1;
// Beyond what all questions of a page together may take.
constexpr Duration kPatience = std::chrono::minutes(2);

std::string Self() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).string();
}

// "launch FLAGS --no-python launch doctor --as-node=FILE …".
std::vector<std::string> JobArguments(const DoctorRequest& request,
                                      const std::string& outcome_file,
                                      const TextTarget& target) {
  const std::string self = Self();
  std::vector<std::string> arguments = {kMeeting};  // the last one given holds
  arguments.insert(arguments.end(), request.launch_arguments.begin(),
                   request.launch_arguments.end());
  arguments.insert(
      arguments.end(),
      {"--nproc-per-node=1", "--max-restarts=0", "--quiet", "--no-python", self,
       "doctor", absl::StrCat("--as-node=", outcome_file),
       absl::StrCat("--columns=", target.style == TextStyle::kColoured
                                      ? target.columns
                                      : -target.columns)});
  if (request.format == DoctorFormat::kJson) arguments.push_back("--json");
  if (request.detail == Detail::kTroubleOnly) arguments.push_back("--quiet");
  if (!request.log_dir.empty()) {
    arguments.push_back(absl::StrCat("--log-dir=", request.log_dir));
  }
  if (!request.folders.empty()) {
    arguments.push_back(
        absl::StrCat("--folders=", absl::StrJoin(request.folders, ",")));
  }
  if (!request.local_addr.empty()) {
    arguments.push_back(absl::StrCat("--own-address=", request.local_addr));
  }
  return arguments;
}

// What can be said of this node alone, by a process of its own: this one has
// had threads.
std::string OwnPage(const DoctorRequest& request) {
  std::vector<std::string> argv = {Self(), "doctor"};
  if (request.format == DoctorFormat::kJson) argv.emplace_back("--json");
  if (request.detail == Detail::kTroubleOnly) argv.emplace_back("--quiet");
  return RunTool({.argv = argv, .deadline = MonotonicNow() + kPatience}).output;
}

}  // namespace

absl::StatusOr<int> RunOnAllNodes(
    const DoctorRequest& request,
    const std::map<std::string, std::string>& environment,
    const LaunchFunction& launch) {
  const auto file = OutcomeFile::Make(Variable(environment, "TMPDIR", "/tmp"));
  if (!file.ok()) return file.status();
  if (request.detail == Detail::kAll) {
    std::fputs("launch doctor: waiting for the nodes to come together\n",
               stderr);
  }
  const int code =
      launch(JobArguments(request, file->path(), TargetOf(STDOUT_FILENO)));
  const std::optional<Outcome> outcome = file->Read();
  // Rank 0 ran on another machine and printed there, or the job failed.
  if (!outcome && code != kNotTogether) return code;
  if (!outcome) {
    std::fputs(
        "launch doctor: the nodes did not come together, for the reason above: "
        "look at those that are absent (do they run launch doctor --nodes with "
        "the same flags, or does a firewall keep them from the port?); what "
        "follows is this node alone\n",
        stderr);
    const std::string page = OwnPage(request);
    std::fputs(page.c_str(), stdout);
    std::fflush(stdout);
    return kNotTogether;
  }
  const bool printed = std::fputs(outcome->page.c_str(), stdout) >= 0 &&
                       std::fflush(stdout) == 0;
  return printed ? outcome->exit_code : 1;
}

}  // namespace muster
