// `agent`: one node's agent alone, for pods and init systems. See docs/CLI.md.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/environment_value.h"
#include "launcher/agent_session.h"
#include "launcher/bootstrap.h"
#include "launcher/cluster/cluster_defaults.h"
#include "launcher/init_process.h"
#include "launcher/options/agent_plan.h"
#include "launcher/options/flag.h"
#include "launcher/options/flag_table.h"
#include "launcher/options/run_options.h"
#include "launcher/voice.h"
#include "rendezvous/client/grpc_link.h"
#include "rendezvous/protocol/report.h"
#include "rendezvous/version.h"

namespace muster::launcher {
namespace {

constexpr char kHead[] =
    R"(agent: run a job's workers on this node, under a coordinator elsewhere

Usage:
  agent [FLAGS] PROGRAM [ARGUMENTS]

The coordinator (rendezvousd, or a launch that hosts one) is found at
--rdzv-endpoint or MUSTER_COORDINATOR. PET_<NAME> in the environment is a
flag's default. agent may be process 1 of a container.

)";

using Environment = std::map<std::string, std::string>;

absl::StatusOr<std::vector<rendezvous::Endpoint>> FindCoordinator(
    const RunOptions& options, const Environment& environment) {
  if (!options.endpoints.empty()) return options.endpoints;
  const auto inherited =
      NonEmptyEnvironmentValue(environment, "MUSTER_COORDINATOR");
  if (!inherited) {
    return absl::InvalidArgumentError(
        "no coordinator is given; write --rdzv-endpoint=HOST:PORT or set "
        "MUSTER_COORDINATOR");
  }
  absl::StatusOr<std::vector<rendezvous::Endpoint>> endpoints =
      rendezvous::ParseEndpoints(*inherited);
  if (endpoints.ok()) return endpoints;
  return absl::InvalidArgumentError(absl::StrCat(
      "MUSTER_COORDINATOR=", *inherited, ": ", endpoints.status().message()));
}

int Run(const RunOptions& options, const Environment& environment) {
  const Voice voice("agent", options.verbosity == Verbosity::kQuiet
                                 ? Talk::kErrorsOnly
                                 : Talk::kAll);
  const absl::StatusOr<std::vector<rendezvous::Endpoint>> coordinator =
      FindCoordinator(options, environment);
  if (!coordinator.ok()) return voice.Refuse(coordinator.status());
  absl::StatusOr<PreparedNode> node = PrepareNode(options, environment, voice);
  if (!node.ok()) return voice.Refuse(node.status());
  absl::StatusOr<agent::AgentOptions> plan =
      PlanAgent(options, node->facts,
                {.endpoints = *coordinator,
                 .run_id = options.run_id,
                 .store_port = options.store_port});
  if (!plan.ok()) return voice.Refuse(plan.status());
  const absl::Status logs = CheckLogFolder(options, plan->logs);
  if (!logs.ok()) return voice.Refuse(logs);
  PrepareSignals(*plan);
  rendezvous::GrpcLink link(
      {.endpoints = *coordinator, .tls = options.tls, .token = node->token});
  CoordinatorPages shown;
  if (!node->token.empty()) shown.tokens = {node->token};
  if (options.tls.given()) {
    shown.certificates = rendezvous::CallerCertificates::kRequired;
  }
  return RunAgentSession(voice, *std::move(plan), options.program[0],
                         options.log_dir.empty() ? LogFolder::kTemporary
                                                 : LogFolder::kGiven,
                         node->guardian.get(), &link, shown)
      .exit_code;
}

int AgentMain(const std::vector<std::string>& args) {
  const std::vector<Flag> flags = FlagsOf(FlagUser::kLaunchAndAgent);
  const Environment environment = ReadEnvironment();
  const absl::StatusOr<ParsedOptions> parsed =
      ParseRunOptions(flags, args, environment, [&](const FlagValues& given) {
        return ClusterDefaults(given, environment);
      });
  if (!parsed.ok()) {
    return Voice("agent", Talk::kAll).Refuse(parsed.status());
  }
  switch (parsed->request) {
    case Request::kHelp:
      return Print(absl::StrCat(kHead, FlagHelp(flags)));
    case Request::kVersion:
      return Print(absl::StrCat("agent (muster) ", rendezvous::kVersion,
                                ", protocol ", rendezvous::kProtocolVersion,
                                "\n"));
    // `agent` has no flag that asks for a shell's completion script
    case Request::kCompletion:
    case Request::kRun:
      break;
  }
  return RunAsInit([&] { return Run(parsed->options, environment); });
}

}  // namespace
}  // namespace muster::launcher

int main(int argc, char** argv) {
  return muster::launcher::StartProgram("agent", argc, argv, [&] {
    return muster::launcher::AgentMain(
        std::vector<std::string>(argv + 1, argv + argc));
  });
}
