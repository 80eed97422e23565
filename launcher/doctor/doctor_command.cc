#include "launcher/doctor/doctor_command.h"

#include <unistd.h>

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "base/resource_room.h"
#include "launcher/doctor/apart.h"
#include "launcher/doctor/doctor_request.h"
#include "launcher/doctor/doctor_text.h"
#include "launcher/doctor/look_here.h"
#include "launcher/doctor/node_worker.h"
#include "launcher/report/text_layout.h"

namespace muster::launcher {
namespace {

// Time limit for all checks of this node. Longer than the sum of the checks'
// own time limits.
constexpr Duration kChecksTimeout = std::chrono::minutes(2);

// The threads that this command needs: those of the name resolver and of gRPC,
// and one for the child process that runs the checks. (Linux's limit counts
// processes and threads together.) CheckRoom checks this need first, because
// the resolver and gRPC would wait forever for a missing thread.
constexpr ResourceNeed kNeed = {.threads = 10};

int Here(const DoctorRequest& request,
         const std::map<std::string, std::string>& environment) {
  const NodeReport report = LookHere(request, environment);
  const std::string text =
      request.format == DoctorFormat::kJson
          ? absl::StrCat(NodeReportJson(report), "\n")
          : DoctorText(report, request.detail, TargetOf(STDOUT_FILENO));
  return Print(text, ExitCodeOf(agent::WorstOf(report.findings)));
}

}  // namespace

int DoctorCommand(const std::vector<std::string>& arguments,
                  const std::map<std::string, std::string>& environment,
                  const LaunchFunction& launch, const Voice& voice) {
  const absl::StatusOr<DoctorRequest> request =
      ParseDoctorRequest(arguments, environment);
  if (!request.ok()) return voice.Refuse(request.status(), "doctor");
  absl::StatusOr<int> code = 0;
  switch (request->way) {
    case DoctorRequest::Way::kHelp:
      return Print(DoctorHelp(), 0);
    case DoctorRequest::Way::kHere:
      if (const absl::Status room = CheckRoom(kNeed); !room.ok()) {
        code = room;
        break;
      }
      code =
          RunApart(kChecksTimeout, [&] { return Here(*request, environment); });
      break;
    case DoctorRequest::Way::kAllNodes:
      code = RunOnAllNodes(*request, environment, launch, voice);
      break;
    case DoctorRequest::Way::kAsNode:
      code = RunAsNode(*request, environment);
      break;
  }
  if (code.ok()) return *code;
  if (absl::IsInvalidArgument(code.status())) {
    return voice.Refuse(code.status(), "doctor");
  }
  voice.Error(absl::StrCat("doctor: ", std::string(code.status().message())));
  // No exit code was computed. Without --nodes (kHere), the checks hung,
  // crashed or could not be started. The node then counts as unhealthy: the
  // exit code is that of a finding with the severity kError. With --nodes, the
  // doctor's job has failed, and the exit code is 1.
  return request->way == DoctorRequest::Way::kHere
             ? ExitCodeOf(agent::Severity::kError)
             : 1;
}

}  // namespace muster::launcher
