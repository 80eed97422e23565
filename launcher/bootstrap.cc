#include "launcher/bootstrap.h"

#include <ctime>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/framework_env/framework_process.h"
#include "agent/health/within.h"
#include "agent/logs/log_paths.h"
#include "agent/logs/log_relay.h"
#include "agent/logs/log_router.h"
#include "agent/nccl_id/nccl_id_process.h"
#include "base/ignored_signals.h"
#include "base/monotonic_clock.h"
#include "base/resource_room.h"
#include "base/secrets.h"
#include "base/standard_descriptors.h"
#include "launcher/gpu_pair/gpu_pair_process.h"
#include "launcher/options/machine.h"
#include "launcher/options/program_check.h"
#include "rendezvous/tls/tls_files.h"
#include "rendezvous/tls/token_identity.h"
#include "rendezvous/token/token.h"

namespace muster::launcher {

int StartProgram(const char* name, int argc, char** argv,
                 const std::function<int()>& main) {
  rendezvous::TakeTokenVariable();
  IgnoreFileSizeSignal();
  OpenStandardDescriptors();
  ReduceThreadMemory();
  InstallOutOfResourceHandler(name);
  if (agent::IsNcclIdProcess(argc, argv)) return agent::RunNcclIdProcess();
  if (IsGpuPairProcess(argc, argv)) RunGpuPairProcess();
  if (agent::IsFrameworkProcess(argc, argv))
    return agent::RunFrameworkProcess(argv);
  HideFromOtherProcesses();
  return main();
}

absl::StatusOr<PreparedNode> PrepareNode(
    const RunOptions& options,
    const std::map<std::string, std::string>& environment, const Voice& voice) {
  PreparedNode node;
  node.facts = ReadMachineFacts(environment);
  // The checks are in the order in which a user would look for a mistake:
  // program, token, TLS files, limits.
  absl::Status program = CheckProgram(options, node.facts);
  if (!program.ok()) return program;
  absl::StatusOr<std::string> token = rendezvous::ReadCallerToken(
      options.token_file,
      [&](const std::string& sentence) { voice.Error(sentence); });
  if (!token.ok()) return absl::InvalidArgumentError(token.status().message());
  node.token = *std::move(token);
  absl::Status tls = rendezvous::CheckTlsFiles(
      options.tls, std::time(nullptr),
      [&](const std::string& sentence) { voice.Error(sentence); });
  if (!tls.ok()) return tls;
  absl::Status encryption = CheckEncryption(options, node.token);
  if (!encryption.ok()) return encryption;
  absl::Status room = CheckRoom(RoomNeededFor(options));
  if (!room.ok()) return room;
  // Fork the guardian (the workers' parent process) before NVIDIA's library,
  // the resolver and gRPC are used: they may start threads, and a fork needs a
  // process with one thread.
  absl::StatusOr<std::unique_ptr<agent::Guardian>> guardian =
      agent::Guardian::Fork();
  if (!guardian.ok()) return guardian.status();
  node.guardian = *std::move(guardian);
  if (options.policy.job_messages != agent::JobMessages::kAssigned) {
    for (const std::string& remark : options.remarks) voice.Notice(remark);
  }
  absl::Status layout = ReadBindingFacts(options, node.facts);
  if (!layout.ok()) return layout;
  absl::Status gpus = ReadGpuFacts(options, node.facts);
  if (!gpus.ok()) return gpus;
  return node;
}

absl::Status CheckLogFolder(const RunOptions& options,
                            const agent::LogPlan& logs) {
  if (options.log_dir.empty()) return absl::OkStatus();
  const std::string run =
      logs.is_tagged ? "" : agent::RunFolder(logs.directory, logs.run_name);
  const std::optional<absl::Status> writable = agent::Within<absl::Status>(
      MonotonicNow() + agent::LogRelay::kCheckTimeout,
      [directory = logs.directory, run] {
        return agent::CheckLogFolderWritable(directory, run);
      });
  // `writable` is nullopt if the file system did not answer in time. This does
  // not stop the job: the agent reports the problem later and continues.
  if (!writable || writable->ok()) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("--log-dir: ", writable->message(),
                   "; name a folder that can be written"));
}

}  // namespace muster::launcher
