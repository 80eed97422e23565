#include "launcher/options/run_options.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/net/socket_address.h"
#include "launcher/options/command_line.h"
#include "rendezvous/protocol/signal_names.h"

namespace muster::launcher {
namespace {

void ReadFlag(const Flag& flag, FlagValues& values, RunOptions& options) {
  if (flag.read == nullptr || !values.IsGiven(flag.name)) return;
  const absl::Status read = flag.read(values.Text(flag.name), options);
  if (!read.ok()) values.Refuse(flag.name, read);
}

void TakeDefaults(Defaults defaults, RunOptions& options) {
  options.remarks = std::move(defaults.remarks);
  options.worker_environment = std::move(defaults.worker_environment);
  options.absent_hint = std::move(defaults.absent_hint);
  options.policy.job_messages = defaults.job_messages;
  options.cluster = defaults.cluster;
  if (defaults.join_timeout) options.spec.join_timeout = *defaults.join_timeout;
  if (defaults.is_host) {
    options.hosting = *defaults.is_host ? Hosting::kAlways : Hosting::kNever;
  }
}

void RefuseFlag(FlagValues& values, const char* name, const std::string& why) {
  values.Refuse(name, absl::InvalidArgumentError(why));
}

// Refuses a flag if another flag that it needs is missing. For example, with
// --include but without --hostfile, the program would run on this machine,
// although the user means other machines.
void CheckNeededFlags(const std::vector<Flag>& flags, FlagValues& values) {
  for (const Flag& flag : flags) {
    if (flag.needs == nullptr || !values.IsGiven(flag.name) ||
        !values.Text(flag.needs).empty()) {
      continue;
    }
    values.RefuseFlag(
        flag.name,
        absl::InvalidArgumentError(absl::StrCat(
            "is for --", flag.needs,
            values.IsOn("slurm")
                ? " and has no effect on --slurm; leave it out"
                : absl::StrCat(", without which it has no effect; give --",
                               flag.needs, " too, or leave this out"))));
  }
}

void CheckRemoteStart(FlagValues& values, RunOptions& options) {
  RemoteOptions& remote = options.remote;
  if (!remote.host_file.empty()) {
    if (remote.start == RemoteStart::kSlurm) {
      RefuseFlag(values, "hostfile",
                 "does not go with --slurm, which takes the allocation's "
                 "nodes; give one of the two");
    }
    remote.start = RemoteStart::kHostFile;
  }
  const agent::WorkerInput::Reader reader = options.input.reader;
  if (remote.start != RemoteStart::kNone &&
      (reader == agent::WorkerInput::Reader::kAll ||
       reader == agent::WorkerInput::Reader::kRank)) {
    RefuseFlag(values, "stdin",
               "the agents that --hostfile and --slurm start have no stdin; "
               "leave it out, or write srun launch --stdin=0");
  }
}

// Refuses is_host=1 if the endpoints of --rdzv-endpoint belong to rendezvousd
// daemons, which host the coordinator themselves.
void CheckHosting(const RunOptions& options, FlagValues& values) {
  if (options.endpoints.size() < 2 || options.hosting != Hosting::kAlways ||
      options.standalone == Standalone::kYes ||
      OwnersOfEndpoints(options) == EndpointOwners::kNodes) {
    return;
  }
  RefuseFlag(
      values, "rdzv-conf",
      absl::StrCat("is_host=1 does not go with the ", options.endpoints.size(),
                   " endpoints of --rdzv-endpoint, where daemons host "
                   "the coordinator; leave out is_host, write one endpoint, "
                   "or, if they are those of nodes, give --takeover=auto"));
}

void CheckInterpreter(FlagValues& values) {
  if (!values.IsOn("module")) return;
  if (values.IsOn("no-python")) {
    values.RefuseFlag("no-python",
                      absl::InvalidArgumentError(
                          "does not go with --module, since a module needs "
                          "Python; leave one of them out"));
  }
  if (values.IsOn("run-path")) {
    values.RefuseFlag("run-path",
                      absl::InvalidArgumentError(
                          "does not go with --module, since a module is not a "
                          "file; leave one of them out"));
  }
}

void CheckStore(const RunOptions& options, FlagValues& values) {
  if (options.spec.store_host != rendezvous::StoreHost::kWorker) return;
  if (options.spec.encryption == rendezvous::Encryption::kWorkers) {
    RefuseFlag(values, "encrypt",
               "the store of a worker (--worker-store) is in clear text; give "
               "one of the two");
  }
  if (options.store_path == agent::StorePath::kThroughAgent) {
    RefuseFlag(values, "local-store",
               "relays the agent's store, and --worker-store asks for the "
               "worker's own; give one of the two");
  }
  // Refuse --worker-store for TensorFlow and JAX. Their workers exchange
  // addresses through the agents' store when they start, before any worker can
  // serve a store.
  for (const agent::FrameworkEnv framework : options.framework_envs) {
    if (framework == agent::FrameworkEnv::kTensorFlow ||
        framework == agent::FrameworkEnv::kJax) {
      RefuseFlag(values, "framework-env",
                 "tf and jax need the agent's store; leave out --worker-store");
    }
  }
}

// Checks that no signal is both in --signals-to-preempt and in
// --signals-to-leave.
void CheckSignals(const RunOptions& options, FlagValues& values) {
  const std::vector<int>& leave = options.policy.signals_to_leave;
  for (const int number : options.preemption.signals) {
    if (std::find(leave.begin(), leave.end(), number) == leave.end()) continue;
    RefuseFlag(values, "signals-to-preempt",
               absl::StrCat(rendezvous::SignalName(number),
                            " is in --signals-to-leave as well; write it in "
                            "one of the two"));
  }
}

// Sets the options whose defaults depend on other options.
void Derive(const FlagValues& values, const std::optional<Duration>& rejoin,
            RunOptions& options) {
  rendezvous::JobSpec& spec = options.spec;
  if (options.rdzv_conf.count("rejoin_timeout") == 0) {
    spec.rejoin_timeout = rejoin.value_or(spec.join_timeout);
  }
  // With --encrypt=workers, a worker may use clear text only on a connection to
  // the agent of its own node. So the worker must reach the store through this
  // agent.
  if (spec.encryption == rendezvous::Encryption::kWorkers) {
    options.store_path = agent::StorePath::kThroughAgent;
  }
  const auto store = options.rdzv_conf.find("store_type");
  if (store != options.rdzv_conf.end() && spec.max_nodes > 1 &&
      absl::AsciiStrToLower(store->second) == "file") {
    options.remarks.emplace_back(
        "--rdzv-conf: store_type=file has no effect: nodes meet at a "
        "coordinator, see --rdzv-endpoint");
  }
  // Slurm gives each node its own number of GPUs. The job's command shown to
  // people contains the name of Slurm's variable instead of this number, so
  // that the commands of all nodes are equal.
  const std::string origin = values.Origin("nproc-per-node");
  if (origin.rfind("SLURM_", 0) == 0) options.workers_asked = "$" + origin;
}

}  // namespace

absl::StatusOr<ParsedOptions> ParseRunOptions(
    const std::vector<Flag>& flags, const std::vector<std::string>& args,
    const std::map<std::string, std::string>& environment,
    const DefaultsSource& source) {
  absl::StatusOr<CommandLine> line = ParseCommandLine(flags, args);
  if (!line.ok()) return line.status();
  ParsedOptions parsed;
  if (line->values.count("help") > 0) {
    parsed.request = Request::kHelp;
    return parsed;
  }
  if (line->values.count("version") > 0) {
    parsed.request = Request::kVersion;
    return parsed;
  }
  const auto completion = line->values.find("print-completion");
  if (completion != line->values.end()) {
    parsed.request = Request::kCompletion;
    parsed.shell = completion->second.back();
    return parsed;
  }
  // If a flag is repeated, its last value is used, as in torchrun. But a
  // repeated --config is refused, because users could not easily see which file
  // is used.
  const auto config = line->values.find("config");
  if (config != line->values.end() && config->second.size() > 1) {
    return absl::InvalidArgumentError(
        "--config: given more than once; one file is read, and the command "
        "line goes before it");
  }
  FlagValues values(flags, *line, environment);
  RunOptions& options = parsed.options;
  // Read --cluster first: the defaults of the other flags, which the function
  // `source` returns, depend on the value of --cluster.
  if (const Flag* cluster = FindFlag(flags, "cluster")) {
    ReadFlag(*cluster, values, options);
    if (!values.status().ok()) return values.status();
  }
  absl::StatusOr<Defaults> defaults =
      source != nullptr ? source(values) : Defaults();
  if (!defaults.ok()) return defaults.status();
  values.TakeDefaults(defaults->flags);
  TakeDefaults(*defaults, options);
  for (const Flag& flag : flags) ReadFlag(flag, values, options);
  options.remote.given = values.Given();
  if (!values.status().ok()) return values.status();
  CheckNeededFlags(flags, values);
  CheckRemoteStart(values, options);
  CheckHosting(options, values);
  CheckInterpreter(values);
  CheckStore(options, values);
  CheckSignals(options, values);
  if (!values.status().ok()) return values.status();
  Derive(values, defaults->rejoin_timeout, options);
  const absl::Status spec = options.spec.Validate();
  if (!spec.ok()) return spec;
  if (line->rest.empty()) line->rest = std::move(defaults->program);
  if (line->rest.empty()) {
    return absl::InvalidArgumentError(
        "no program: there is nothing to run; name the script or program after "
        "the flags");
  }
  options.program = std::move(line->rest);
  return parsed;
}

EndpointOwners OwnersOfEndpoints(const RunOptions& options) {
  const bool are_nodes =
      options.remote.endpoint_fd >= 0
          ? options.hosting == Hosting::kNever
          : options.remote.given.count("takeover") > 0 && IsTakenOver(options);
  return are_nodes ? EndpointOwners::kNodes : EndpointOwners::kDaemons;
}

bool IsTakenOver(const RunOptions& options) {
  return options.spec.max_nodes >= 3 &&
         options.spec.takeover != rendezvous::Takeover::kNever;
}

absl::Status CheckEncryption(const RunOptions& options,
                             const std::string& token) {
  const rendezvous::JobSpec& spec = options.spec;
  std::vector<rendezvous::Endpoint> endpoints = options.endpoints;
  if (endpoints.empty()) endpoints = {options.master};
  const bool stays_here =
      spec.max_nodes == 1 ||
      (options.remote.start == RemoteStart::kNone &&
       std::ranges::all_of(endpoints, [](const rendezvous::Endpoint& endpoint) {
         return IsLoopback(endpoint.host);
       }));
  if (spec.encryption == rendezvous::Encryption::kNone || stays_here ||
      options.tls.given() || !token.empty()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      "--encrypt=workers: the workers' key comes from the coordinator, and "
      "would "
      "cross the network in clear text; give all nodes one secret by "
      "MUSTER_TOKEN or --token-file (`launch token` prints one), or "
      "--tls-cert, "
      "--tls-key and --tls-ca");
}

}  // namespace muster::launcher
