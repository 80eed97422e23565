#include "launcher/doctor/node_worker.h"

#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/environment_value.h"
#include "launcher/doctor/absent_nodes.h"
#include "launcher/doctor/doctor_text.h"
#include "launcher/doctor/look_here.h"
#include "launcher/doctor/node_exchange.h"
#include "launcher/doctor/nodes_page.h"
#include "launcher/doctor/outcome_file.h"
#include "launcher/doctor/outcome_lines.h"
#include "trainer_sdk/session/session.h"

namespace muster::launcher {
namespace {

constexpr Duration kPatience = std::chrono::seconds(60);

// The address at which other nodes reach this one.
std::string OwnAddress(const std::map<std::string, std::string>& environment) {
  return NonEmptyEnvironmentValue(environment, "MUSTER_NODE_ADDRESS")
      .value_or("127.0.0.1");
}

// Builds the page of all nodes. Missing nodes are added here if their number is
// known; otherwise the `launch` that started the job from another machine adds
// them.
NodesPage PageOf(const DoctorRequest& request,
                 const std::map<std::string, std::string>& environment,
                 const std::vector<NodeSeen>& nodes) {
  NodesPage page;
  for (const NodeSeen& node : nodes) {
    if (node.report) page.reports.push_back(*node.report);
  }
  page.between = CompareNodes(nodes);
  page.expected = request.expected;
  const ExpectedNodes expected = {
      .count = request.expected, .names = SlurmNodes(environment), .why = {}};
  // Every node came; CompareNodes has reported those without a report.
  if (nodes.size() >= static_cast<size_t>(request.expected)) return page;
  for (agent::Finding& absent : FindAbsent(expected, page.reports)) {
    page.between.push_back(std::move(absent));
  }
  return page;
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
  place.address = OwnAddress(environment);
  Store& store = *(*session)->store();
  const auto nodes = ExchangeReports(place, report, store);
  if (!nodes.ok()) return nodes.status();
  if (place.rank != 0) {
    const auto code = AgreeOnExitCode(place, 0, store);
    if (!code.ok()) return code.status();
    LeaveExitCode(request.outcome_file, *code);
    return 0;  // the exit code of this worker: its job has succeeded
  }
  const NodesPage page = PageOf(request, environment, *nodes);
  DoctorResult outcome;
  outcome.exit_code = ExitCodeOf(WorstOfPage(page));
  if (request.outcome_file.empty()) {
    outcome.page = OutcomeLines(NodesJson(page));
  } else {
    outcome.page = request.format == DoctorFormat::kJson
                       ? absl::StrCat(NodesJson(page), "\n")
                       : NodesText(page, request.detail, request.target);
  }
  // The file is written before the exit code is published: other nodes end as
  // soon as they read the code.
  const bool left = LeavePage(request.outcome_file, outcome);
  const auto told = AgreeOnExitCode(place, outcome.exit_code, store);
  if (!told.ok()) return told.status();
  if (left) return 0;
  const bool printed =
      std::fputs(outcome.page.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
  if (!printed) return 1;
  // The reader of the encoded lines finds the exit code in them.
  return request.outcome_file.empty() ? 0 : outcome.exit_code;
}

}  // namespace muster::launcher
