#include "launcher/doctor/nodes_job.h"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "agent/report/text_style.h"
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

// "launch FLAGS --no-python launch doctor --as-node=FILE …".
std::vector<std::string> JobArguments(const DoctorRequest& request,
                                      const std::string& outcome_file,
                                      const TextTarget& target) {
  std::error_code error;
  const std::string self =
      std::filesystem::read_symlink("/proc/self/exe", error).string();
  std::vector<std::string> arguments = request.launch_arguments;
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

}  // namespace

absl::StatusOr<int> RunOnAllNodes(
    const DoctorRequest& request,
    const std::map<std::string, std::string>& environment,
    const LaunchFunction& launch) {
  const auto file = OutcomeFile::Make(Variable(environment, "TMPDIR", "/tmp"));
  if (!file.ok()) return file.status();
  const int code =
      launch(JobArguments(request, file->path(), TargetOf(STDOUT_FILENO)));
  const std::optional<Outcome> outcome = file->Read();
  // Rank 0 ran on another machine and printed there, or the job failed.
  if (!outcome) return code;
  const bool printed = std::fputs(outcome->page.c_str(), stdout) >= 0 &&
                       std::fflush(stdout) == 0;
  return printed ? outcome->exit_code : 1;
}

}  // namespace muster
