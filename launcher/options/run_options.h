#ifndef MUSTER_LAUNCHER_OPTIONS_RUN_OPTIONS_H_
#define MUSTER_LAUNCHER_OPTIONS_RUN_OPTIONS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/binding/binding_mode.h"
#include "agent/health/health_options.h"
#include "agent/logs/log_plan.h"
#include "agent/preemption/preemption_options.h"
#include "agent/progress/hang_policy.h"
#include "agent/store/store_path.h"
#include "agent/workers/framework_env.h"
#include "agent/workers/worker_input.h"
#include "launcher/options/defaults.h"
#include "launcher/options/flag.h"
#include "launcher/options/remote_options.h"
#include "rendezvous/endpoint/endpoint.h"
#include "rendezvous/protocol/job_spec.h"

namespace muster::launcher {

enum class RendezvousBackend { kStatic, kDynamic };
enum class Standalone { kNo, kYes };
enum class Hosting { kIfOwner, kAlways, kNever };  // is_host
enum class Verbosity { kNotices, kQuiet };
enum class LocalRanks { kReal, kVirtual };

// How the program becomes a worker's command.
enum class Interpreter {
  kByName,    // Python for *.py, else executed
  kPython,    // --python
  kModule,    // -m
  kNoPython,  // --no-python
  kRunPath,   // --run-path
};

// What the person asked for, every value read and checked on its own; nothing
// of this machine is in it yet. docs/CLI.md tells the meaning of each.
struct RunOptions {
  // Nodes and where they meet. What was not given is nullopt or empty.
  Standalone standalone = Standalone::kNo;
  RendezvousBackend backend = RendezvousBackend::kStatic;
  std::optional<rendezvous::Endpoint> endpoint;
  std::string run_id = "none";
  Hosting hosting = Hosting::kIfOwner;
  std::optional<int> node_rank;
  rendezvous::Endpoint master{"127.0.0.1", 29500};
  std::optional<int> master_port;
  int store_port = 0;  // 0: a free one each round
  std::string local_addr;
  std::string node_id;
  std::string token_file;
  std::vector<std::string> topology;  // "KEY=VALUE", the outermost first
  rendezvous::JobSpec spec;
  RemoteOptions remote;
  agent::AgentPolicy policy;
  Duration close_timeout = std::chrono::seconds(30);
  std::string absent_hint;  // Defaults::absent_hint

  // Workers.
  std::string workers_per_node = "1";
  // What was asked for where that is another text: a cluster said the number.
  std::string workers_asked;
  std::vector<std::string> gpus;
  LocalRanks local_ranks = LocalRanks::kReal;
  agent::StorePath store_path = agent::StorePath::kDirect;
  Interpreter interpreter = Interpreter::kByName;
  bool expands_local_rank = false;  // torchrun's macro in arguments
  std::string role = "default";
  std::vector<std::string> program;  // and its arguments
  agent::Binding binding = agent::Binding::kNone;
  std::vector<agent::FrameworkEnv> framework_envs;
  std::string local_rank_flag;  // its name, without dashes; empty: none
  std::map<std::string, std::string> worker_environment;  // more of it
  agent::WorkerInput input;
  agent::HealthOptions health;

  // Output.
  std::string log_dir;
  std::string log_line_prefix;  // a template; empty: ours
  agent::StreamsByRank redirects;
  agent::StreamsByRank tee;
  agent::ConsolePolicy console;
  std::set<int> console_local_ranks;
  std::vector<std::string> stdout_filters;
  std::vector<std::string> stderr_filters;
  // Asked for: --log-rotate-mb is given.
  agent::LogPlan::Rotation rotation = agent::LogPlan::Rotation::kOfShownStreams;
  int64_t rotate_bytes = 256 << 20;
  Verbosity verbosity = Verbosity::kNotices;
  Cluster cluster = Cluster::kNone;

  // Signals.
  std::string signals_to_handle_text;
  std::vector<int> signals_to_handle;  // stop the job
  agent::PreemptionOptions preemption;

  // One line each, to be said once: flags that have no effect here.
  std::vector<std::string> remarks;
};

// What a command line asks for instead of a run.
enum class Request { kRun, kHelp, kVersion, kCompletion };

struct ParsedOptions {
  Request request = Request::kRun;
  RunOptions options;  // kRun
  std::string shell;   // kCompletion: whose script
};

// Reads `args` (without the program's name); `environment` gives the PET_
// defaults, and `source`, asked once these are known, what is left. Pure but
// for `source`. InvalidArgument, one line: "--nnodes=4:2: what was wrong; what
// to write".
absl::StatusOr<ParsedOptions> ParseRunOptions(
    const std::vector<Flag>& flags, const std::vector<std::string>& args,
    const std::map<std::string, std::string>& environment,
    const DefaultsSource& source = nullptr);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_OPTIONS_RUN_OPTIONS_H_
