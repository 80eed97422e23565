#include "launcher/doctor/look_here.h"

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "agent/health/examine_node.h"
#include "agent/health/node_facts.h"
#include "agent/health/read_node.h"
#include "base/environment_value.h"
#include "base/net/resolve.h"
#include "launcher/doctor/doctor_job_flags.h"
#include "launcher/local_token.h"
#include "rendezvous/client/admin_client.h"
#include "rendezvous/endpoint/endpoint.h"
#include "rendezvous/tls/token_identity.h"
#include "rendezvous/token/token.h"

namespace muster::launcher {
namespace {

constexpr Duration kCoordinatorTimeout = std::chrono::seconds(5);
// Time-out for each endpoint (argument of AskCoordinator) if the user gives
// several endpoints. The endpoints are asked one after the other.
constexpr Duration kTimeoutOfEach = std::chrono::seconds(2);

// Asks the coordinator at `endpoint` for its time and for the address from
// which it sees this node connect. `token`: the job's token from
// ReadCallerToken. Blocks for at most twice `timeout`. If `token` is empty,
// blocks for up to 5 s more to look for the token of a coordinator of this user
// on this machine (FindLocalCoordinator).
agent::CoordinatorFacts AskCoordinator(const rendezvous::Endpoint& endpoint,
                                       const rendezvous::TlsFiles& tls,
                                       const absl::StatusOr<std::string>& token,
                                       Duration timeout) {
  agent::CoordinatorFacts facts;
  facts.endpoint = endpoint.ToString();
  const auto addresses =
      Resolve(endpoint.host, endpoint.port, {.timeout = timeout});
  if (!addresses.ok()) {
    facts.error = std::string(addresses.status().message());
    return facts;
  }
  for (const SocketAddress& address : *addresses) {
    facts.addresses.push_back(address.Ip());
  }
  if (!token.ok()) {
    facts.token_error = std::string(token.status().message());
    return facts;
  }
  const bool has_token = !token->empty();
  rendezvous::AdminClient::Options options{
      .endpoints = {endpoint}, .tls = tls, .token = *token, .timeout = timeout};
  if (!has_token) {
    std::optional<LocalCoordinator> local =
        FindLocalCoordinator(endpoint, LocalTokenParents());
    if (local) {
      if (!tls.given()) options.endpoints = {local->endpoint};
      options.token = std::move(local->token);
    }
  }
  rendezvous::AdminClient client(std::move(options));
  const auto caller = client.WhoAmI();
  facts.local_address = LocalAddressTowards(addresses->front());
  // This error proves that the coordinator is reachable: it has rejected the
  // call because of the token.
  if (absl::IsUnauthenticated(caller.status())) {
    const std::string why(caller.status().message());
    facts.wants_token = !has_token && absl::StrContains(why, "job token");
    if (!facts.wants_token) facts.token_error = why;
    return facts;
  }
  if (!caller.ok()) {
    facts.error = std::string(caller.status().message());
    return facts;
  }
  facts.seen_address = caller->address;
  facts.version = caller->version;
  facts.clock_ahead = caller->clock_ahead;
  facts.round_trip = caller->round_trip;
  return facts;
}

// Asks the endpoints in order until a coordinator answers. If no coordinator
// answers, returns facts whose `error` joins the errors of all endpoints.
agent::CoordinatorFacts AskFirstThatAnswers(
    const std::vector<rendezvous::Endpoint>& endpoints,
    const rendezvous::TlsFiles& tls, const absl::StatusOr<std::string>& token) {
  const Duration timeout =
      endpoints.size() == 1 ? kCoordinatorTimeout : kTimeoutOfEach;
  agent::CoordinatorFacts none;
  none.endpoint = rendezvous::EndpointsText(endpoints);
  for (const rendezvous::Endpoint& endpoint : endpoints) {
    agent::CoordinatorFacts facts =
        AskCoordinator(endpoint, tls, token, timeout);
    if (facts.error.empty() || endpoints.size() == 1) return facts;
    absl::StrAppend(&none.error, none.error.empty() ? "" : "; ", facts.error);
  }
  return none;
}

// The job's token. A worker of `launch doctor --nodes` gets the token from the
// variable kWorkersTokenVariable; otherwise the token is in the token file or
// in MUSTER_TOKEN.
absl::StatusOr<std::string> TokenOf(
    const DoctorRequest& request,
    const std::map<std::string, std::string>& environment) {
  if (request.way == DoctorRequest::Way::kAsNode) {
    return EnvironmentValue(environment, kWorkersTokenVariable).value_or("");
  }
  return rendezvous::ReadCallerToken(
      request.token_file,
      [](const std::string& /*sentence*/) { /* told in the answer */ });
}

}  // namespace

NodeReport LookHere(const DoctorRequest& request,
                    const std::map<std::string, std::string>& environment) {
  // Remove the token from this process's environment: `environment` has a copy,
  // and child processes do not need the token. unsetenv is safe, because no
  // other thread runs yet.
  unsetenv(kWorkersTokenVariable);
  agent::NodePaths paths;
  paths.environment = environment;
  paths.nvml_library =
      NonEmptyEnvironmentValue(environment, "MUSTER_NVML_LIBRARY")
          .value_or("libnvidia-ml.so.1");
  paths.folders = {
      {"temporary files",
       NonEmptyEnvironmentValue(environment, "TMPDIR").value_or("/tmp")}};
  if (!request.log_dir.empty()) {
    paths.folders.emplace_back(agent::kLogsPurpose, request.log_dir);
  }
  paths.folders.emplace_back(agent::kWorkingPurpose, ".");
  for (const std::string& folder : request.folders) {
    paths.folders.emplace_back("named", folder);
  }
  agent::NodeFacts facts = agent::ReadNode(paths);
  if (!request.coordinator.empty()) {
    facts.coordinator = AskFirstThatAnswers(request.coordinator, request.tls,
                                            TokenOf(request, environment));
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
