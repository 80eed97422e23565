#include "launcher/doctor/look_here.h"

#include "agent/fitness/examine_node.h"
#include "agent/fitness/read_node.h"
#include "launcher/doctor/ask_coordinator.h"

namespace muster {
namespace {

std::string Variable(const std::map<std::string, std::string>& environment,
                     const char* name, const char* fallback) {
  const auto found = environment.find(name);
  return found == environment.end() || found->second.empty() ? fallback
                                                             : found->second;
}

}  // namespace

NodeReport LookHere(const DoctorRequest& request,
                    const std::map<std::string, std::string>& environment) {
  NodePlaces places;
  places.environment = environment;
  places.nvml_library =
      Variable(environment, "MUSTER_NVML_LIBRARY", "libnvidia-ml.so.1");
  places.folders = {
      {"temporary files", Variable(environment, "TMPDIR", "/tmp")}};
  if (!request.log_dir.empty()) {
    places.folders.emplace_back(kLogsPurpose, request.log_dir);
  }
  places.folders.emplace_back("working folder", ".");
  for (const std::string& folder : request.folders) {
    places.folders.emplace_back("named", folder);
  }
  NodeFacts facts = ReadNode(places);
  if (request.coordinator) {
    facts.coordinator =
        AskCoordinator(*request.coordinator, request.token_file);
  }
  std::vector<Finding> findings = ExamineNode(facts);
  return ReportOf(facts, std::move(findings));
}

}  // namespace muster
