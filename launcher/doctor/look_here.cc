#include "launcher/doctor/look_here.h"

#include "agent/health/examine_node.h"
#include "agent/health/read_node.h"
#include "base/environment_value.h"
#include "launcher/doctor/ask_coordinator.h"
#include "launcher/doctor/job_token.h"
#include "rendezvous/token/token.h"

namespace muster::launcher {
namespace {

// The job's token. A worker of `launch doctor --nodes` reads it from the
// variable of job_token.h; otherwise it is in the token file or in
// MUSTER_TOKEN.
absl::StatusOr<std::string> TokenOf(
    const DoctorRequest& request,
    const std::map<std::string, std::string>& environment) {
  if (request.way == DoctorRequest::Way::kAsNode) {
    return EnvironmentValue(environment, kWorkersTokenVariable).value_or("");
  }
  return rendezvous::ReadToken(
      request.token_file,
      [](const std::string& /*sentence*/) { /* told in the answer */ });
}

}  // namespace

NodeReport LookHere(const DoctorRequest& request,
                    const std::map<std::string, std::string>& environment) {
  agent::NodePlaces places;
  places.environment = environment;
  places.nvml_library =
      NonEmptyEnvironmentValue(environment, "MUSTER_NVML_LIBRARY")
          .value_or("libnvidia-ml.so.1");
  places.folders = {
      {"temporary files",
       NonEmptyEnvironmentValue(environment, "TMPDIR").value_or("/tmp")}};
  if (!request.log_dir.empty()) {
    places.folders.emplace_back(agent::kLogsPurpose, request.log_dir);
  }
  places.folders.emplace_back(agent::kWorkingPurpose, ".");
  for (const std::string& folder : request.folders) {
    places.folders.emplace_back("named", folder);
  }
  agent::NodeFacts facts = agent::ReadNode(places);
  if (request.coordinator) {
    facts.coordinator =
        AskCoordinator(*request.coordinator, TokenOf(request, environment));
    facts.coordinator->advertised_address =
        EnvironmentValue(environment, "MUSTER_NODE_ADDRESS").value_or("");
  }
  std::vector<agent::Finding> findings = agent::ExamineNode(facts);
  NodeReport report = ReportOf(facts, std::move(findings));
  report.node = EnvironmentValue(environment, "MUSTER_NODE_ID").value_or("");
  report.node_rank = request.node_rank;
  return report;
}

}  // namespace muster::launcher
