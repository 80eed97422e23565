#include "launcher/options/run_options.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "base/environment_value.h"
#include "launcher/options/command_line.h"
#include "launcher/options/flag_values.h"
#include "launcher/options/health_flags.h"
#include "launcher/options/option_values.h"
#include "launcher/options/preemption_flags.h"
#include "launcher/options/rdzv_conf.h"

namespace muster::launcher {
namespace {

// A name that becomes a folder and stands in lines of text.
absl::StatusOr<std::string> ReadName(const std::string& text) {
  constexpr size_t kLongest = 128;
  if (text.empty() || text.size() > kLongest || text == "." || text == "..") {
    return absl::InvalidArgumentError(
        absl::StrCat("is not a name of 1 to ", kLongest,
                     " characters; write for example "
                     "job-7"));
  }
  for (const char c : text) {
    if (c == '/' || static_cast<unsigned char>(c) < 0x21 || c == 0x7f) {
      return absl::InvalidArgumentError(
          "holds a slash, a space or a control character; use letters, digits, "
          "'.', '_' and '-'");
    }
  }
  return text;
}

absl::StatusOr<std::string> ReadText(const std::string& text) { return text; }

absl::StatusOr<RendezvousBackend> ReadBackend(const std::string& text) {
  if (text == "static") return RendezvousBackend::kStatic;
  if (text == "c10d" || text == "muster") return RendezvousBackend::kDynamic;
  return absl::InvalidArgumentError(
      text.rfind("etcd", 0) == 0
          ? "etcd is not needed: the coordinator brings its own rendezvous; "
            "write c10d and --rdzv-endpoint=HOST:PORT"
          : "is an unknown rendezvous; write static, c10d or muster");
}

absl::StatusOr<std::string> ReadWorkersPerNode(const std::string& text) {
  if (text == "gpu" || text == "cpu" || text == "auto") return text;
  const absl::StatusOr<int64_t> number = ReadNumber(text, 1, 4096);
  if (number.ok()) return text;
  return absl::InvalidArgumentError(
      text == "xpu" ? "xpu devices are not counted; write their number"
                    : "is neither a number from 1 to 4096 nor gpu, cpu or "
                      "auto; write for example 2");
}

absl::StatusOr<std::set<int>> ReadLocalRanks(const std::string& text) {
  std::set<int> ranks;
  for (const std::string& part : ReadList(text)) {
    const absl::StatusOr<int64_t> rank = ReadNumber(part, 0, 4095);
    if (!rank.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(part, " is not a local rank; write for example 0,1"));
    }
    ranks.insert(static_cast<int>(*rank));
  }
  return ranks;
}

// "wait", "wait:SECONDS" or "drop".
absl::StatusOr<agent::ConsolePolicy> ReadConsolePolicy(
    const std::string& text) {
  constexpr char kTimed[] = "wait:";
  agent::ConsolePolicy policy;
  policy.drops = text == "drop";
  if (policy.drops || text == "wait") return policy;
  if (text.rfind(kTimed, 0) != 0) {
    return absl::InvalidArgumentError("is none of wait, wait:SECONDS and drop");
  }
  const absl::StatusOr<Duration> patience =
      ReadSeconds(text.substr(sizeof kTimed - 1));
  if (!patience.ok()) return patience.status();
  policy.patience = *patience;
  return policy;
}

absl::StatusOr<std::string> ReadHost(const std::string& text) {
  if (text.empty()) return text;
  const bool has_port = std::count(text.begin(), text.end(), ':') == 1 ||
                        (text[0] == '[' && text.back() != ']');
  if (has_port) {
    return absl::InvalidArgumentError(
        "has a port; write the host name or address alone");
  }
  absl::StatusOr<rendezvous::Endpoint> endpoint =
      rendezvous::ParseEndpoint(text);
  if (!endpoint.ok()) return endpoint.status();
  return endpoint->host;
}

absl::StatusOr<Interpreter> ReadInterpreter(FlagValues& values) {
  bool python = false, module = false, no_python = false, run_path = false;
  values.Into("python", ReadSwitch, python);
  values.Into("module", ReadSwitch, module);
  values.Into("no-python", ReadSwitch, no_python);
  values.Into("run-path", ReadSwitch, run_path);
  if (module && no_python) {
    return absl::InvalidArgumentError(
        "--no-python: does not go with --module, since a module needs Python; "
        "leave one of them out");
  }
  if (module && run_path) {
    return absl::InvalidArgumentError(
        "--run-path: does not go with --module, since a module is not a file; "
        "leave one of them out");
  }
  if (run_path) return Interpreter::kRunPath;
  if (module) return Interpreter::kModule;
  if (no_python) return Interpreter::kNoPython;
  return python ? Interpreter::kPython : Interpreter::kByName;
}

absl::StatusOr<agent::HangPolicy> ReadHangPolicy(const std::string& text) {
  if (text == "auto")
    return agent::HangPolicy{agent::HangDetection::kLearned, {}};
  if (text == "off") return agent::HangPolicy{agent::HangDetection::kOff, {}};
  const absl::StatusOr<Duration> timeout = ReadSeconds(text);
  if (!timeout.ok() || *timeout == Duration::zero()) {
    return absl::InvalidArgumentError(
        "is neither a number of seconds above 0 nor auto or off; write for "
        "example 600");
  }
  return agent::HangPolicy{agent::HangDetection::kGiven, *timeout};
}

absl::StatusOr<std::vector<std::string>> ReadLabels(const std::string& text) {
  std::vector<std::string> labels = ReadList(text);
  std::set<std::string> keys;
  for (const std::string& label : labels) {
    const size_t equals = label.find('=');
    if (equals == 0 || equals == std::string::npos ||
        equals + 1 == label.size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "'", label, "' is not KEY=VALUE; write for example rack=r7"));
    }
    if (!keys.insert(label.substr(0, equals)).second) {
      return absl::InvalidArgumentError(absl::StrCat(
          "has ", label.substr(0, equals), " twice; a node has one of each"));
    }
  }
  return labels;
}

absl::StatusOr<std::string> ReadClusterMode(const std::string& text) {
  return ReadChoice(text, {"auto", "none", "slurm", "kubernetes"});
}

absl::StatusOr<agent::Binding> ReadBinding(const std::string& text) {
  if (text.empty()) return agent::Binding::kNone;
  if (text == "node") return agent::Binding::kNode;
  if (text == "socket") return agent::Binding::kSocket;
  if (text == "exclusive") return agent::Binding::kExclusive;
  if (text == "core-complex") return agent::Binding::kCoreComplex;
  return absl::InvalidArgumentError(
      "is no binding; write node, socket, exclusive or core-complex");
}

absl::StatusOr<std::vector<agent::FrameworkEnv>> ReadFrameworkEnvs(
    const std::string& text) {
  static const auto& known = *new std::map<std::string, agent::FrameworkEnv>{
      {"tf", agent::FrameworkEnv::kTensorFlow},
      {"jax", agent::FrameworkEnv::kJax},
      {"mpi", agent::FrameworkEnv::kMpi},
      {"deepspeed", agent::FrameworkEnv::kDeepSpeed},
      {"accelerate", agent::FrameworkEnv::kAccelerate}};
  std::vector<agent::FrameworkEnv> framework_envs;
  for (const std::string& word : ReadList(text)) {
    const auto found = known.find(word);
    if (found == known.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", word,
                       "' is no framework environment; write one or more of "
                       "tf,jax,mpi,deepspeed,accelerate"));
    }
    framework_envs.push_back(found->second);
  }
  return framework_envs;
}

// TensorFlow's and JAX's workers tell each other their addresses in the
// agents' store, before there is a worker that could serve one.
void CheckFrameworkEnvs(bool worker_store, FlagValues& values,
                        const RunOptions& options) {
  for (const agent::FrameworkEnv framework : options.framework_envs) {
    if (worker_store && (framework == agent::FrameworkEnv::kTensorFlow ||
                         framework == agent::FrameworkEnv::kJax)) {
      values.Refuse(
          "framework-env",
          absl::InvalidArgumentError("tf and jax need the agent's store; leave "
                                     "out --worker-store"));
    }
  }
}

void ReadCluster(FlagValues& values, RunOptions& options) {
  std::pair<int, int> nodes;
  values.Into("nnodes", ReadNodes, nodes);
  options.spec.min_nodes = nodes.first;
  options.spec.max_nodes = nodes.second;
  bool standalone = false;
  if (values.IsGiven("standalone")) {
    values.Into("standalone", ReadSwitch, standalone);
  }
  options.standalone = standalone ? Standalone::kYes : Standalone::kNo;
  values.Into("rdzv-backend", ReadBackend, options.backend);
  if (!values.Text("rdzv-endpoint").empty()) {
    values.Into("rdzv-endpoint", rendezvous::ParseEndpoint, options.endpoint);
  }
  values.Into("rdzv-id", ReadName, options.run_id);
  if (values.IsGiven("node-rank")) {
    const auto read = [](const std::string& text) {
      return ReadNumber(text, 0, 999'999);
    };
    values.Into("node-rank", read, options.node_rank);
  }
  if (values.IsGiven("master-addr")) {
    values.Into("master-addr", ReadHost, options.master.host);
  }
  if (values.IsGiven("master-port")) {
    const auto read = [](const std::string& text) {
      return ReadNumber(text, 0, 65535);
    };
    values.Into("master-port", read, options.master_port);
    options.master.port = options.master_port.value_or(0);
  }
  const auto read_port = [](const std::string& text) {
    return ReadNumber(text, 0, 65535);
  };
  values.Into("store-port", read_port, options.store_port);
  values.Into("local-addr", ReadHost, options.local_addr);
  if (values.IsGiven("node-id")) {
    values.Into("node-id", ReadName, options.node_id);
  }
  values.Into("topology", ReadLabels, options.topology);
  options.remote = ReadRemoteOptions(values);
  values.Into("token-file", ReadText, options.token_file);
  values.Into("connect-timeout", ReadSeconds, options.policy.connect_timeout);
  values.Into("coordinator-timeout", ReadSeconds,
              options.policy.coordinator_timeout);
}

void ReadRendezvousConf(FlagValues& values, const Defaults& defaults,
                        RunOptions& options) {
  RdzvConf conf;
  values.Into("rdzv-conf", ReadRdzvConf, conf);
  if (!conf.is_host) conf.is_host = defaults.is_host;
  if (!conf.rejoin_timeout) conf.rejoin_timeout = defaults.rejoin_timeout;
  if (!conf.timeout && !conf.join_timeout) {
    conf.join_timeout = defaults.join_timeout;
  }
  rendezvous::JobSpec& spec = options.spec;
  options.absent_hint = defaults.absent_hint;
  spec.mixed_nodes = conf.mixed_nodes.value_or(false);
  if (conf.timeout) spec.join_timeout = *conf.timeout;
  if (conf.join_timeout) spec.join_timeout = *conf.join_timeout;
  spec.rejoin_timeout = conf.rejoin_timeout.value_or(spec.join_timeout);
  if (conf.last_call_timeout) spec.last_call = *conf.last_call_timeout;
  if (conf.close_timeout) options.close_timeout = *conf.close_timeout;
  if (conf.keep_alive_interval) {
    spec.keep_alive_interval = *conf.keep_alive_interval;
  }
  if (conf.keep_alive_max_attempt) {
    spec.keep_alive_misses = *conf.keep_alive_max_attempt;
  }
  if (conf.read_timeout && !values.IsGiven("connect-timeout")) {
    options.policy.connect_timeout = *conf.read_timeout;
  }
  if (conf.meets_in_file && spec.max_nodes > 1) {
    options.remarks.emplace_back(
        "--rdzv-conf: store_type=file has no effect: nodes meet at a "
        "coordinator, see --rdzv-endpoint");
  }
  if (conf.is_host) {
    options.hosting = *conf.is_host ? Hosting::kAlways : Hosting::kNever;
  }
}

void ReadWorkers(FlagValues& values, RunOptions& options) {
  values.Into("nproc-per-node", ReadWorkersPerNode, options.workers_per_node);
  // Slurm says each node's own number of GPUs.
  const std::string origin = values.Origin("nproc-per-node");
  if (origin.rfind("SLURM_", 0) == 0) options.workers_asked = "$" + origin;
  options.gpus = ReadList(values.Text("gpus"));
  if (values.IsGiven("gpus") && options.gpus.empty()) {
    values.Refuse("gpus", absl::InvalidArgumentError(
                              "names no GPU; write for example 0,1"));
  }
  bool virtual_rank = false;
  values.Into("virtual-local-rank", ReadSwitch, virtual_rank);
  options.local_ranks = virtual_rank ? LocalRanks::kVirtual : LocalRanks::kReal;
  bool worker_store = false;
  values.Into("worker-store", ReadSwitch, worker_store);
  if (worker_store) options.spec.store_host = rendezvous::StoreHost::kWorker;
  bool local_store = false;
  values.Into("local-store", ReadSwitch, local_store);
  if (local_store) options.store_path = agent::StorePath::kThroughAgent;
  if (worker_store && local_store) {
    values.Refuse("local-store",
                  absl::InvalidArgumentError(
                      "relays the agent's store, and --worker-store asks for "
                      "the worker's own; give one of the two"));
  }
  values.Into("role", ReadName, options.role);
  const auto restarts = [](const std::string& text) {
    return ReadNumber(text, 0, 1'000'000);
  };
  values.Into("max-restarts", restarts, options.spec.max_restarts);
  values.Into("wait-for-replacement", ReadSeconds,
              options.spec.wait_for_replacement);
  const auto scale_up =
      [](const std::string& text) -> absl::StatusOr<rendezvous::ScaleUp> {
    const absl::StatusOr<std::string> word =
        ReadChoice(text, {"never", "restart"});
    if (!word.ok()) return word.status();
    return *word == "never" ? rendezvous::ScaleUp::kNever
                            : rendezvous::ScaleUp::kRestart;
  };
  values.Into("scale-up", scale_up, options.spec.scale_up);
  values.Into("scale-up-cooldown", ReadSeconds,
              options.spec.scale_up_cool_down);
  values.Into("hang-timeout", ReadHangPolicy, options.policy.hangs);
  values.Into("numa-binding", ReadBinding, options.binding);
  values.Into("framework-env", ReadFrameworkEnvs, options.framework_envs);
  CheckFrameworkEnvs(worker_store, values, options);
  const auto local_rank_flag = [](const std::string& text) {
    return ReadChoice(text, {"", "local_rank", "local-rank"});
  };
  values.Into("local-rank-flag", local_rank_flag, options.local_rank_flag);
  options.health = ReadHealthOptions(values);
  values.Into("stdin", agent::ParseWorkerInput, options.input);
  const agent::WorkerInput::Reader reader = options.input.reader;
  if (options.remote.start != RemoteStart::kNone &&
      (reader == agent::WorkerInput::Reader::kAll ||
       reader == agent::WorkerInput::Reader::kRank)) {
    values.Refuse("stdin",
                  absl::InvalidArgumentError(
                      "the agents that --hostfile and --slurm start have no "
                      "stdin; leave it out, or write srun launch --stdin=0"));
  }
}

void ReadOutput(FlagValues& values, RunOptions& options) {
  values.Into("log-dir", ReadFolder, options.log_dir);
  values.Into("log-line-prefix-template", ReadText, options.log_line_prefix);
  values.Into("redirects", agent::ParseStreamsByRank, options.redirects);
  values.Into("tee", agent::ParseStreamsByRank, options.tee);
  values.Into("local-ranks-filter", ReadLocalRanks,
              options.console_local_ranks);
  values.Into("console", ReadConsolePolicy, options.console);
  // torchrun's way to ask for no files.
  if (options.log_dir == "/dev/null") options.log_dir.clear();
  options.stdout_filters = ReadFilters(values.Text("duplicate-stdout-filters"));
  options.stderr_filters = ReadFilters(values.Text("duplicate-stderr-filters"));
  int64_t mebibytes = 0;
  const auto read = [](const std::string& text) {
    return ReadNumber(text, 0, 1 << 20);
  };
  values.Into("log-rotate-mb", read, mebibytes);
  options.rotate_bytes = mebibytes << 20;
  const bool asked = values.IsGiven("log-rotate-mb");
  if (asked) options.rotation = agent::LogPlan::Rotation::kOfAllStreams;
  bool quiet = false;
  values.Into("quiet", ReadSwitch, quiet);
  options.verbosity = quiet ? Verbosity::kQuiet : Verbosity::kNotices;
}

void ReadStopping(FlagValues& values, RunOptions& options) {
  options.signals_to_handle_text = values.Text("signals-to-handle");
  values.Into("signals-to-handle", ReadSignals, options.signals_to_handle);
  values.Into("signals-to-forward", ReadSignals,
              options.policy.signals_to_forward);
  values.Into("signals-to-leave", ReadSignals, options.policy.signals_to_leave);
  values.Into("shutdown-timeout", ReadSeconds, options.spec.shutdown_timeout);
  options.preemption = ReadPreemptionOptions(values);
}

// Checked, so that a slip shows here as it does there; without effect.
void ReadAccepted(FlagValues& values, RunOptions& options) {
  Duration interval{};
  values.Into("monitor-interval", ReadSeconds, interval);
  std::string word;
  const auto method = [](const std::string& text) {
    return ReadChoice(text, {"spawn", "fork", "forkserver"});
  };
  values.Into("start-method", method, word);
  if (values.IsGiven("start-method")) {
    options.remarks.emplace_back(
        "--start-method has no effect: workers are always programs of their "
        "own");
  }
  const auto logs_specs = [](const std::string& text) {
    return text.empty() || text == "default"
               ? absl::StatusOr<std::string>(text)
               : absl::InvalidArgumentError(
                     "Python plug-ins for logs are not loaded; leave it out "
                     "and see --log-dir, --redirects and --tee");
  };
  values.Into("logs-specs", logs_specs, word);
  const auto handler = [](const std::string& text) {
    return text == "null" || text == "console"
               ? absl::StatusOr<std::string>(text)
               : absl::InvalidArgumentError(
                     "is no event handler; write null or console, or leave it "
                     "out: decisions go to events.jsonl in the log folder");
  };
  values.Into("event-log-handler", handler, word);
  if (word == "console") {
    options.remarks.emplace_back(
        "--event-log-handler=console has no effect: decisions go to "
        "events.jsonl in the log folder");
  }
}

// What torchrun takes from variables without a flag's name. As with PET_
// variables, an empty one counts as unset.
std::map<std::string, FlagDefault> TorchVariables(
    const std::map<std::string, std::string>& environment) {
  constexpr char kShutdownTimeout[] = "TORCH_ELASTIC_SHUTDOWN_TIMEOUT";
  std::map<std::string, FlagDefault> defaults;
  if (const auto said =
          NonEmptyEnvironmentValue(environment, kShutdownTimeout)) {
    defaults["shutdown-timeout"] = {kShutdownTimeout, *said};
  }
  constexpr char kOwnStore[] = "TORCH_DISABLE_SHARE_RDZV_TCP_STORE";
  if (EnvironmentValue(environment, kOwnStore) == "1") {
    defaults["worker-store"] = {kOwnStore, "1"};
  }
  return defaults;
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
  // Of other flags the last one holds, as with torchrun; whose file that was
  // nobody would see.
  const auto config = line->values.find("config");
  if (config != line->values.end() && config->second.size() > 1) {
    return absl::InvalidArgumentError(
        "--config: given more than once; one file is read, and the command "
        "line goes before it");
  }
  FlagValues values(flags, *line, environment);
  values.TakeDefaults(TorchVariables(environment));
  std::string cluster;
  values.Into("cluster", ReadClusterMode, cluster);
  absl::StatusOr<Defaults> defaults =
      source != nullptr && values.status().ok() ? source(values) : Defaults();
  if (!defaults.ok()) return defaults.status();
  values.TakeDefaults(defaults->flags);
  RunOptions& options = parsed.options;
  options.remarks = std::move(defaults->remarks);
  options.worker_environment = std::move(defaults->worker_environment);
  options.policy.telling = defaults->telling;
  options.cluster = defaults->cluster;
  ReadCluster(values, options);
  ReadRendezvousConf(values, *defaults, options);
  ReadWorkers(values, options);
  ReadOutput(values, options);
  ReadStopping(values, options);
  ReadAccepted(values, options);
  const absl::StatusOr<Interpreter> interpreter = ReadInterpreter(values);
  if (!values.status().ok()) return values.status();
  if (!interpreter.ok()) return interpreter.status();
  options.interpreter = *interpreter;
  // Under torchrun's name --python is given, whatever runs the program.
  values.Into("python", ReadSwitch, options.expands_local_rank);
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

}  // namespace muster::launcher
