// `agent`: one node's agent alone, for pods and init systems. See docs/CLI.md.
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "agent/agent_session.h"
#include "agent/cluster/cluster_defaults.h"
#include "agent/dialects/dialect_process.h"
#include "agent/guardian/guardian.h"
#include "agent/init_process.h"
#include "agent/nccl_id/nccl_id_process.h"
#include "agent/options/agent_plan.h"
#include "agent/options/flag_table.h"
#include "agent/options/help_text.h"
#include "agent/options/program_check.h"
#include "agent/options/read_machine.h"
#include "agent/options/room_need.h"
#include "agent/options/run_options.h"
#include "agent/voice.h"
#include "base/environment_value.h"
#include "base/file_size_signal.h"
#include "base/resource_room.h"
#include "base/standard_descriptors.h"
#include "rendezvous/client/grpc_link.h"
#include "rendezvous/protocol/report.h"
#include "rendezvous/token/token.h"
#include "rendezvous/version.h"

namespace muster {
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

int Print(const std::string& text) {
  return std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0 ? 0
                                                                           : 1;
}

absl::StatusOr<Endpoint> FindCoordinator(const RunOptions& options,
                                         const Environment& environment) {
  if (options.endpoint) return *options.endpoint;
  const auto inherited =
      NonEmptyEnvironmentValue(environment, "MUSTER_COORDINATOR");
  if (!inherited) {
    return absl::InvalidArgumentError(
        "no coordinator: there is nobody to work for; write "
        "--rdzv-endpoint=HOST:PORT or set MUSTER_COORDINATOR");
  }
  absl::StatusOr<Endpoint> endpoint = ParseEndpoint(*inherited);
  if (endpoint.ok()) return endpoint;
  return absl::InvalidArgumentError(absl::StrCat(
      "MUSTER_COORDINATOR=", *inherited, ": ", endpoint.status().message()));
}

int Run(const RunOptions& options, const Environment& environment) {
  const Voice voice("agent", options.verbosity == Verbosity::kQuiet
                                 ? Talk::kErrorsOnly
                                 : Talk::kAll);
  const absl::StatusOr<Endpoint> coordinator =
      FindCoordinator(options, environment);
  if (!coordinator.ok()) return voice.Refuse(coordinator.status());
  MachineFacts facts = ReadMachineFacts(environment);
  const absl::Status program = CheckProgram(options, facts);
  if (!program.ok()) return voice.Refuse(program);
  const absl::StatusOr<std::string> token =
      ReadToken(options.token_file,
                [&](const std::string& sentence) { voice.Error(sentence); });
  if (!token.ok()) {
    return voice.Refuse(absl::InvalidArgumentError(token.status().message()));
  }
  const absl::Status room = CheckRoom(RoomNeededFor(options));
  if (!room.ok()) return voice.Refuse(room);
  // From here on there may be threads, in NVIDIA's library and in gRPC.
  absl::StatusOr<std::unique_ptr<Guardian>> guardian = Guardian::Fork();
  if (!guardian.ok()) return voice.Refuse(guardian.status());
  for (const std::string& remark : options.remarks) voice.Notice(remark);
  const absl::Status layout = ReadBindingFacts(options, facts);
  if (!layout.ok()) return voice.Refuse(layout);
  const absl::Status gpus = ReadGpuFacts(options, facts);
  if (!gpus.ok()) return voice.Refuse(gpus);
  absl::StatusOr<AgentOptions> plan =
      PlanAgent(options, facts, coordinator->ToString());
  if (!plan.ok()) return voice.Refuse(plan.status());
  PrepareSignals(*plan);
  GrpcLink link({.coordinator = *coordinator, .token = *token});
  return RunAgentSession(voice, *std::move(plan), options.program[0],
                         options.log_dir.empty() ? LogFolder::kTemporary
                                                 : LogFolder::kGiven,
                         guardian->get(), &link)
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
      return Print(absl::StrCat("agent (muster) ", kVersion, ", protocol ",
                                kProtocolVersion, "\n"));
    case Request::kCompletion:  // a flag of launch alone
    case Request::kRun:
      break;
  }
  return RunAsInit([&] { return Run(parsed->options, environment); });
}

}  // namespace
}  // namespace muster

int main(int argc, char** argv) {
  muster::IgnoreFileSizeSignal();
  muster::OpenStandardDescriptors();
  muster::LiveWithinAddressSpace();
  muster::TellWhatRanOut("agent");
  if (muster::IsNcclIdProcess(argc, argv)) return muster::RunNcclIdProcess();
  if (muster::IsDialectProcess(argc, argv)) {
    return muster::RunDialectProcess(argv);
  }
  return muster::AgentMain(std::vector<std::string>(argv + 1, argv + argc));
}
