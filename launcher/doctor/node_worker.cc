#include "launcher/doctor/node_worker.h"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/environment_value.h"
#include "base/monotonic_clock.h"
#include "launcher/doctor/compare_nodes.h"
#include "launcher/doctor/doctor_text.h"
#include "launcher/doctor/look_here.h"
#include "launcher/doctor/node_report.h"
#include "launcher/doctor/worker_outcome.h"
#include "trainer_sdk/session/session.h"

namespace muster::launcher {
namespace {

using Json = nlohmann::ordered_json;

std::string Key(int rank, const char* what) {
  return absl::StrCat("doctor/", rank, "/", what);
}
constexpr char kExitCode[] = "doctor/exit_code";

// The value that a node stores under its key "place" in the job's store, "PORT
// ADDRESS": the port and the address at which the node's ProbeListener can be
// reached.
std::string PlaceText(int port, const std::string& address) {
  return absl::StrCat(port, " ", address);
}

absl::StatusOr<rendezvous::Endpoint> ParsePlace(const std::string& text) {
  const size_t blank = text.find(' ');
  rendezvous::Endpoint endpoint;
  if (blank == std::string::npos ||
      !absl::SimpleAtoi(text.substr(0, blank), &endpoint.port) ||
      endpoint.port < 1 || endpoint.port > 65535) {
    return absl::InvalidArgumentError("a node told of no port");
  }
  endpoint.host = text.substr(blank + 1);
  return endpoint;
}

std::string ProbesJson(const std::map<int, Probe>& probes) {
  Json list = Json::array();
  for (const auto& [rank, probe] : probes) {
    list.push_back({{"rank", rank},
                    {"error", probe.error},
                    {"round_trip", probe.round_trip.count()},
                    {"clock_ahead", probe.clock_ahead.count()}});
  }
  return list.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::map<int, Probe> ParseProbes(const std::string& text, int nodes) {
  std::map<int, Probe> probes;
  const Json list = Json::parse(text, nullptr, false);
  if (list.is_discarded() || !list.is_array()) return probes;
  for (const Json& one : list) {
    if (!one.is_object()) continue;
    const auto number = [&one](const char* name) -> int64_t {
      const auto value = one.find(name);
      return value != one.end() && value->is_number_integer()
                 ? value->get<int64_t>()
                 : 0;
    };
    const int64_t rank = number("rank");
    const auto error = one.find("error");
    if (rank < 0 || rank >= nodes || error == one.end() ||
        !error->is_string()) {
      continue;
    }
    probes[static_cast<int>(rank)] = {error->get<std::string>(),
                                      Duration(number("round_trip")),
                                      Duration(number("clock_ahead"))};
  }
  return probes;
}

// Returns the listeners of the ranks that this node probes. Each node puts its
// listener's address into the job's store. A node that has not done so by
// `deadline` is left out; rank 0 reports that node as missing.
std::map<int, rendezvous::Endpoint> Targets(const NodePlace& place,
                                            Store& store, Instant deadline) {
  std::map<int, rendezvous::Endpoint> targets;
  for (const int other : ProbedBy(place.rank, place.nodes)) {
    const auto text = store.Get(Key(other, "place"), deadline);
    if (!text.ok()) continue;
    const auto endpoint = ParsePlace(*text);
    if (endpoint.ok()) targets[other] = *endpoint;
  }
  return targets;
}

NodeSeen Seen(int rank, int nodes, Store& store, Instant deadline) {
  NodeSeen seen;
  const auto place = store.Get(Key(rank, "place"), deadline);
  if (place.ok()) {
    const auto endpoint = ParsePlace(*place);
    if (endpoint.ok()) seen.address = endpoint->host;
  }
  const auto probes = store.Get(Key(rank, "probes"), deadline);
  if (probes.ok()) seen.probes = ParseProbes(*probes, nodes);
  const auto report = store.Get(Key(rank, "report"), deadline);
  if (!report.ok()) return seen;
  auto parsed = ParseNodeReport(*report);
  if (parsed.ok()) seen.report = *std::move(parsed);
  return seen;
}

}  // namespace

absl::StatusOr<std::vector<NodeSeen>> ExchangeReports(const NodePlace& place,
                                                      const NodeReport& report,
                                                      Store& store) {
  auto listener = ProbeListener::Start();
  if (!listener.ok()) return listener.status();
  const Instant deadline = MonotonicNow() + place.timeout;
  absl::Status told =
      store.Set(Key(place.rank, "report"), NodeReportJson(report));
  if (told.ok()) {
    told = store.Set(Key(place.rank, "place"),
                     PlaceText((*listener)->port(), place.address));
  }
  if (!told.ok()) return told;
  const std::map<int, rendezvous::Endpoint> targets =
      Targets(place, store, deadline);
  std::vector<rendezvous::Endpoint> endpoints;
  for (const auto& [other, endpoint] : targets) endpoints.push_back(endpoint);
  const std::vector<Probe> results =
      ProbeAll(endpoints, MonotonicNow() + place.connect_timeout);
  std::map<int, Probe> probes;
  size_t i = 0;
  for (const auto& [other, endpoint] : targets) probes[other] = results[i++];
  told = store.Set(Key(place.rank, "probes"), ProbesJson(probes));
  if (!told.ok()) return told;
  // Every worker waits until rank 0 has the results of all nodes, because the
  // worker's ProbeListener must stay open for the probes of other nodes. `end`:
  // rank 0's time limit for these results.
  const Instant end = deadline + 2 * place.connect_timeout;
  std::vector<NodeSeen> all;
  if (place.rank != 0) {
    const absl::Status over = store.Wait({kExitCode}, end + place.timeout);
    if (!over.ok()) return over;
    return all;
  }
  for (int rank = 0; rank < place.nodes; ++rank) {
    all.push_back(Seen(rank, place.nodes, store, end));
  }
  return all;
}

absl::StatusOr<int> AgreeOnExitCode(const NodePlace& place, int own,
                                    Store& store) {
  if (place.rank == 0) {
    const absl::Status told = store.Set(kExitCode, absl::StrCat(own));
    if (!told.ok()) return told;
    return own;
  }
  const auto text = store.Get(kExitCode, MonotonicNow() + place.timeout);
  if (!text.ok()) return text.status();
  int code = 1;
  if (!absl::SimpleAtoi(*text, &code)) code = 1;
  return code;
}

namespace {

constexpr Duration kPeersTimeout = std::chrono::seconds(60);

// The address at which other nodes reach this node.
std::string OwnAddress(const std::map<std::string, std::string>& environment) {
  return NonEmptyEnvironmentValue(environment, "MUSTER_NODE_ADDRESS")
      .value_or("127.0.0.1");
}

// Builds the page of all nodes. If the request has the expected number of
// nodes, adds findings about missing nodes. Otherwise the `launch` that started
// the job from another machine adds these findings.
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
  // If all expected nodes joined, no node is missing. CompareNodes has already
  // reported nodes that joined and sent no report.
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
  meeting.connect_timeout = kPeersTimeout;
  const auto session = Session::FromEnvironment(meeting);
  if (!session.ok()) return session.status();
  NodePlace place;
  place.rank = (*session)->rank();
  place.nodes = (*session)->world_size();
  place.timeout = kPeersTimeout;
  place.address = OwnAddress(environment);
  Store& store = *(*session)->store();
  const auto nodes = ExchangeReports(place, report, store);
  if (!nodes.ok()) return nodes.status();
  if (place.rank != 0) {
    const auto code = AgreeOnExitCode(place, 0, store);
    if (!code.ok()) return code.status();
    LeaveExitCode(request.outcome_file, *code);
    // The exit code of this worker is 0 even on an unhealthy node. With any
    // other code the doctor's job would fail.
    return 0;
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
  // Write the result file before the exit code is put into the job's store,
  // because the other nodes exit as soon as they have read the exit code.
  const bool left = LeavePage(request.outcome_file, outcome);
  const auto told = AgreeOnExitCode(place, outcome.exit_code, store);
  if (!told.ok()) return told.status();
  if (left) return 0;
  const bool printed =
      std::fputs(outcome.page.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
  if (!printed) return 1;
  // If this worker was given no result file, the `launch` that started the job
  // runs on another machine. That `launch` reads the page from this worker's
  // output and computes the exit code from the page, so the worker itself exits
  // with 0.
  return request.outcome_file.empty() ? 0 : outcome.exit_code;
}

}  // namespace muster::launcher
