#ifndef MUSTER_LAUNCHER_OPTIONS_RUN_OPTIONS_H_
#define MUSTER_LAUNCHER_OPTIONS_RUN_OPTIONS_H_

#include <csignal>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/agent_options.h"
#include "agent/binding/binding_plan.h"
#include "agent/lifecycle/agent_policy.h"
#include "agent/logs/log_plan.h"
#include "agent/store/store_plan.h"
#include "agent/workers/worker_environment.h"
#include "agent/workers/worker_input.h"
#include "launcher/options/defaults.h"
#include "launcher/options/flag.h"
#include "rendezvous/endpoint/endpoint.h"
#include "rendezvous/protocol/job_spec.h"
#include "rendezvous/protocol/node_fault.h"
#include "rendezvous/tls/tls_files.h"

namespace muster::launcher {

enum class RendezvousBackend { kStatic, kDynamic };
enum class Standalone { kNo, kYes };
// The value of is_host in --rdzv-conf: whether this node hosts the coordinator.
// kIfOwner: is_host is not given, and the node decides by its rank and
// addresses (ChooseCoordinator).
enum class Hosting { kIfOwner, kAlways, kNever };
enum class Verbosity { kNotices, kQuiet };
enum class LocalRanks { kReal, kVirtual };

// The flag that determines how a worker's command is made from the program. If
// several of these flags are given, the last one in this list takes precedence.
enum class Interpreter {
  kByName,    // Python runs *.py; any other program is executed directly
  kPython,    // --python: the program runs under Python, whatever its name
  kNoPython,  // --no-python: the program is executed directly
  kModule,    // -m: the program is the name of a Python module
  kRunPath,   // --run-path: Python's runpy.run_path runs the program
};

// Whether this `launch` starts the job's agents on other nodes, and how.
enum class RemoteStart { kNone, kSlurm, kHostFile };

enum class TokenMaker { kUser, kStarter };

struct RemoteOptions {
  RemoteStart start = RemoteStart::kNone;
  std::string host_file;
  std::string include;  // value of --include, in DeepSpeed's syntax
  std::string exclude;
  // variables to send to the agents on other hosts (--export): NAME, PREFIX* or
  // NAME=VALUE
  std::vector<std::string> exports;
  std::string ssh_args;
  Duration ssh_timeout = std::chrono::seconds(30);
  // Maximum number of hosts to which one machine opens ssh connections.
  int ssh_fan_out = 32;
  // The flags that the command line, the environment, a file or a cluster set.
  // Key: the flag's name. Value: its text. The command lines of the agents on
  // other nodes are made from this map.
  std::map<std::string, std::string> given;
  // Used only in an agent that another `launch` started. endpoint_fd: the
  // descriptor to which the agent writes the endpoint of its coordinator or
  // standby; -1: the endpoint is not written. verdict_fd: the descriptor to
  // which the agent writes the verdict; -1: stderr.
  int endpoint_fd = -1;
  int verdict_fd = -1;
  // Used only in an agent that another `launch` started: which messages about
  // the whole job the agent prints.
  agent::JobMessages job_messages = agent::JobMessages::kAll;
  // Whether the user gave the job's token (kUser) or the `launch` that started
  // this agent made it (kStarter). In the second case only that `launch` and
  // its agents have the token.
  TokenMaker token_maker = TokenMaker::kUser;

  bool operator==(const RemoteOptions&) const = default;
};

// The values of the flags of a run. Each value is read and checked alone
// (`Flag::read`), then together with the other values (ParseRunOptions). The
// values do not depend on this machine. docs/CLI.md describes each flag.
struct RunOptions {
  // The fields up to absent_hint are about the nodes and the rendezvous. A
  // field without a default is nullopt or empty if its flag is not given.
  Standalone standalone = Standalone::kNo;
  RendezvousBackend backend = RendezvousBackend::kStatic;
  // Endpoints of --rdzv-endpoint. OwnersOfEndpoints says whose they are if
  // there are several.
  std::vector<rendezvous::Endpoint> endpoints;
  std::string run_id = "none";
  Hosting hosting = Hosting::kIfOwner;
  std::optional<int> node_rank;
  rendezvous::Endpoint master{"127.0.0.1", 29500};
  std::optional<int> master_port;
  // port of the workers' store; 0: any free port, chosen anew for each round
  int store_port = 0;
  // hosts that may connect to the workers' store, besides the round's nodes
  std::vector<std::string> store_clients;
  std::string local_addr;
  std::string node_id;
  // --state-dir: folder of the journal with which a restarted coordinator
  // continues the job. Used only if this process hosts the coordinator. Empty:
  // no journal.
  std::string state_dir;
  // --quarantine: whether the coordinator in this process keeps machines with
  // many faults out of rounds.
  rendezvous::Quarantine quarantine = rendezvous::Quarantine::kOn;
  // --on-quarantine: command that the hosting process runs for each machine
  // that is quarantined; empty: none.
  std::string on_quarantine;
  std::string token_file;
  rendezvous::TlsFiles tls;
  // --topology: labels of this node's place in the network, each "KEY=VALUE";
  // the outermost level first
  std::vector<std::string> topology;
  rendezvous::JobSpec spec;
  // The keys that --rdzv-conf gives, with their values as text.
  std::map<std::string, std::string> rdzv_conf;
  RemoteOptions remote;
  agent::AgentPolicy policy;
  Duration close_timeout = std::chrono::seconds(30);
  // hint for the user, printed if the job ends because nodes are missing: how
  // to find out why (Defaults::absent_hint)
  std::string absent_hint;

  // The number of workers on a node, as text: a number, gpu, cpu or auto. This
  // field and those up to `health` are about the workers.
  std::string workers_per_node = "1";
  // The number of workers in the job's command, as text. If a variable of Slurm
  // gave the number, the text is "$" and the variable's name, so that the
  // commands of all nodes are equal. Empty: `workers_per_node` is used.
  std::string workers_asked;
  std::vector<std::string> gpus;
  LocalRanks local_ranks = LocalRanks::kReal;
  agent::StorePath store_path = agent::StorePath::kDirect;
  // Whether NCCL loads Muster's profiler plug-in.
  bool profiles_collectives = false;
  Interpreter interpreter = Interpreter::kByName;
  // Whether ${local_rank} in the program's arguments is replaced, as by
  // torchrun.
  bool expands_local_rank = false;
  std::string role = "default";
  // the program that each worker runs, and its arguments
  std::vector<std::string> program;
  agent::Binding binding = agent::Binding::kNone;
  std::vector<agent::FrameworkEnv> framework_envs;
  // flag, without dashes, with which each program gets its local rank; empty:
  // none
  std::string local_rank_flag;
  // Variables added to the environment of the workers.
  std::map<std::string, std::string> worker_environment;
  agent::WorkerInput input;
  agent::HealthOptions health;

  // value of --log-dir; may be relative; empty: a temporary folder is used
  std::string log_dir;
  // settings of the workers' logs; PlanAgent adds the folder and the run name
  agent::LogPlan logs;
  Verbosity verbosity = Verbosity::kNotices;
  Cluster cluster = Cluster::kNone;

  // Signals that stop the job, as text and as numbers.
  std::string signals_to_handle_text = "SIGTERM,SIGINT,SIGHUP,SIGQUIT";
  std::vector<int> signals_to_handle = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};
  agent::PreemptionOptions preemption;

  // Remarks about flags that have no effect in this run: one line each, printed
  // once.
  std::vector<std::string> remarks;

  bool operator==(const RunOptions&) const = default;
};

// The action that the user requests on the command line.
enum class Request { kRun, kHelp, kVersion, kCompletion };

struct ParsedOptions {
  Request request = Request::kRun;
  RunOptions options;  // for kRun: the options of the job
  std::string shell;   // for kCompletion: name of the shell
};

// Parses `args` (without the program's name). `environment` has the PET_
// variables. `source` is called with the flags that `args` and `environment`
// give, and returns defaults for the other flags. Pure, except for `source`.
// InvalidArgument, one line: "--nnodes=4:2: what was wrong; what to write".
absl::StatusOr<ParsedOptions> ParseRunOptions(
    const std::vector<Flag>& flags, const std::vector<std::string>& args,
    const std::map<std::string, std::string>& environment,
    const DefaultsSource& source = nullptr);

// The kind of program that listens at the endpoints of --rdzv-endpoint, if the
// flag has several endpoints.
enum class EndpointOwners {
  // rendezvousd daemons that share their state: no node hosts the coordinator
  kDaemons,
  // nodes: the first one hosts the coordinator until another one takes over
  kNodes,
};

// Returns kNodes if the user gives --takeover=auto or majority, which has a
// meaning for coordinators inside of nodes only. Also returns kNodes in an
// agent that another `launch` has started and told to host no coordinator
// (is_host=0): its endpoints are those of nodes one of which has taken over.
EndpointOwners OwnersOfEndpoints(const RunOptions& options);

// Whether another node may take over from a coordinator that runs inside a
// `launch`. False with --takeover=never. Also false if the job has at most two
// nodes, because one of two nodes is no majority.
bool IsTakenOver(const RunOptions& options);

// Checks that the coordinator does not send the key of --encrypt=workers over a
// network in clear text. `token`: the job's secret; empty: none. Pure.
// InvalidArgument: one line that says which flag to give.
absl::Status CheckEncryption(const RunOptions& options,
                             const std::string& token);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_OPTIONS_RUN_OPTIONS_H_
