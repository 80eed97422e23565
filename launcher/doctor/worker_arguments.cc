#include "launcher/doctor/worker_arguments.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace muster::launcher {

std::vector<std::string> WorkerArguments(
    const DoctorRequest& request, const std::string& launch_path,
    const std::vector<std::string>& worker) {
  // Health checks must not keep out a node that the doctor is to examine.
  std::vector<std::string> arguments = {"--nproc-per-node=1",
                                        "--max-restarts=0",
                                        "--health-command=",
                                        "--health-checks=",
                                        "--quiet",
                                        "--no-python",
                                        launch_path,
                                        "doctor"};
  arguments.insert(arguments.end(), worker.begin(), worker.end());
  if (request.format == DoctorFormat::kJson) arguments.emplace_back("--json");
  if (request.detail == Detail::kTroubleOnly) {
    arguments.emplace_back("--quiet");
  }
  if (!request.log_dir.empty()) {
    arguments.push_back(absl::StrCat("--log-dir=", request.log_dir));
  }
  if (!request.folders.empty()) {
    arguments.push_back(
        absl::StrCat("--folders=", absl::StrJoin(request.folders, ",")));
  }
  return arguments;
}

}  // namespace muster::launcher
