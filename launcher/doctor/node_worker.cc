#include "launcher/doctor/node_worker.h"

#include <algorithm>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "launcher/doctor/doctor_text.h"
#include "launcher/doctor/look_here.h"
#include "launcher/doctor/node_exchange.h"
#include "launcher/doctor/outcome_file.h"
#include "rendezvous/endpoint/resolve.h"
#include "trainer_sdk/session/session.h"

namespace muster {
namespace {

constexpr Duration kPatience = std::chrono::seconds(60);

std::string Variable(const std::map<std::string, std::string>& environment,
                     const char* name, const char* fallback) {
  const auto found = environment.find(name);
  return found == environment.end() || found->second.empty() ? fallback
                                                             : found->second;
}

// The address at which the others reach this node: the one from which it
// reaches rank 0.
std::string OwnAddress(const DoctorRequest& request,
                       const std::string& master) {
  const std::string& wanted =
      request.local_addr.empty() ? master : request.local_addr;
  const auto addresses = Resolve({wanted, 9}, kPatience);
  if (!addresses.ok() || addresses->empty()) return wanted;
  if (!request.local_addr.empty()) return addresses->front().Ip();
  return LocalAddressTowards(addresses->front());
}

std::string PageOf(const DoctorRequest& request,
                   const std::vector<NodeSeen>& nodes,
                   const std::vector<Finding>& between) {
  std::vector<NodeReport> reports;
  for (const NodeSeen& node : nodes) {
    if (node.report) reports.push_back(*node.report);
  }
  return request.format == DoctorFormat::kJson
             ? absl::StrCat(NodesJson(reports, between), "\n")
             : NodesText(reports, between, request.detail, request.target);
}

Severity WorstOfAll(const std::vector<NodeSeen>& nodes,
                    const std::vector<Finding>& between) {
  Severity worst = WorstOf(between);
  for (const NodeSeen& node : nodes) {
    if (node.report) worst = std::max(worst, WorstOf(node.report->findings));
  }
  return worst;
}

}  // namespace

absl::StatusOr<int> RunAsNode(
    const DoctorRequest& request,
    const std::map<std::string, std::string>& environment) {
  const NodeReport report = LookHere(request, environment);
  SessionOptions meeting;
  meeting.connect_timeout = kPatience;
  const auto session = Session::FromEnvironment(meeting);
  if (!session.ok()) return session.status();
  NodePlace place;
  place.rank = (*session)->rank();
  place.nodes = (*session)->world_size();
  place.patience = kPatience;
  place.address =
      OwnAddress(request, Variable(environment, "MASTER_ADDR", "127.0.0.1"));
  Store& store = *(*session)->store();
  const auto nodes = ExchangeReports(place, report, store);
  if (!nodes.ok()) return nodes.status();
  if (place.rank != 0) {
    const auto code = AgreeOnExitCode(place, 0, store);
    if (!code.ok()) return code.status();
    LeaveExitCode(request.outcome_file, *code);
    return 0;  // to the job this worker has succeeded
  }
  const std::vector<Finding> between = CompareNodes(*nodes);
  Outcome outcome;
  outcome.page = PageOf(request, *nodes, between);
  outcome.exit_code = ExitCodeOf(WorstOfAll(*nodes, between));
  // Before the others learn the code and leave it: the page goes before.
  const bool left = LeavePage(request.outcome_file, outcome);
  const auto told = AgreeOnExitCode(place, outcome.exit_code, store);
  if (!told.ok()) return told.status();
  if (left) return 0;
  return std::fputs(outcome.page.c_str(), stdout) >= 0 &&
                 std::fflush(stdout) == 0
             ? outcome.exit_code
             : 1;
}

}  // namespace muster
