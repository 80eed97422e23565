#include "launcher/ssh/remote_plan.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/lifecycle/agent_policy.h"
#include "base/word_split.h"
#include "launcher/options/flag_table.h"
#include "rendezvous/protocol/signal_names.h"
#include "rendezvous/token/token.h"

namespace muster::launcher {
namespace {

constexpr Duration kRejoinTimeout = std::chrono::seconds(10);
// Maximum time for which an agent tries to reach the coordinator in another
// agent: the larger of kCoordinatorTimeout and the rejoin timeout plus
// kCoordinatorSlack. kCoordinatorTimeout is long enough to restart a killed
// agent, or for a standby to take over. A lost host of the coordinator may be
// connected again within the rejoin timeout, and needs kCoordinatorSlack to
// start the coordinator.
constexpr Duration kCoordinatorTimeout = std::chrono::seconds(60);
constexpr Duration kCoordinatorSlack = std::chrono::seconds(10);

// Returns how the flag `name` is passed on to agents (Flag::on_hosts). kNotSent
// if `launch` has no such flag.
OnHosts OnHostsOf(const std::string& name) {
  static const auto& flags =
      *new std::vector<Flag>(FlagsOf(FlagUser::kLaunchOnly));
  const Flag* const flag = FindFlag(flags, name);
  return flag == nullptr ? OnHosts::kNotSent : flag->on_hosts;
}

std::string Written(const std::string& name, const std::string& value) {
  return absl::StrCat("--", name, "=", value);
}

absl::Status CheckOptions(const RunOptions& options) {
  for (const auto& [name, text] : options.remote.given) {
    if (OnHostsOf(name) != OnHosts::kOfOneNode) continue;
    if (name == "standalone" && options.standalone == Standalone::kNo) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--", name,
                     ": is for one node and does not go with --hostfile, which "
                     "gives every host its own"));
  }
  return absl::OkStatus();
}

// Drops hosts that the job does not use. --nnodes=N keeps the first N of
// `hosts`. --nnodes=MIN:MAX keeps all, because the hosts after the first MAX
// are spares. If MAX is 1, there are no spares, and only the first host is
// kept. Returns the minimum number of nodes of the job: N or MIN or, without
// --nnodes, the number of hosts.
absl::StatusOr<int> Choose(const RunOptions& options,
                           std::vector<Host>& hosts) {
  if (options.remote.given.count("nnodes") == 0) {
    return static_cast<int>(hosts.size());
  }
  const rendezvous::JobSpec& spec = options.spec;
  const std::string& asked = options.remote.given.at("nnodes");
  if (static_cast<size_t>(spec.min_nodes) > hosts.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--nnodes=", asked,
        ": asks for more hosts than the host file gives, which is ",
        hosts.size(), "; add hosts or ask for fewer"));
  }
  if (asked.find(':') == std::string::npos || spec.max_nodes == 1) {
    hosts.resize(static_cast<size_t>(spec.min_nodes));
  }
  return spec.min_nodes;
}

std::string JoinedSlots(const std::vector<int>& slots) {
  std::string text;
  for (const int slot : slots) {
    absl::StrAppend(&text, text.empty() ? "" : ",", slot);
  }
  return text;
}

// Plans one host. Selected slots become CUDA_VISIBLE_DEVICES, as in DeepSpeed;
// whether the host has these GPUs is not checked.
absl::StatusOr<RemoteHost> PlanHost(const RunOptions& options, const Host& host,
                                    uint32_t place, int most) {
  RemoteHost planned = {.index = place,
                        .name = host.name,
                        .destination = host.Destination(),
                        .flags = {Written("node-id", host.name)},
                        .environment = {}};
  if (static_cast<int>(place) < most && most > 1) {
    planned.flags.push_back(Written("node-rank", absl::StrCat(place)));
  }
  if (!host.chosen_slots.empty()) {
    if (options.remote.given.count("gpus") > 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--gpus: does not go with slots in --include or --exclude, which "
          "choose the GPUs of ",
          host.name, "; give one of the two"));
    }
    planned.environment["CUDA_VISIBLE_DEVICES"] =
        JoinedSlots(host.chosen_slots);
  }
  if (options.remote.given.count("nproc-per-node") == 0) {
    const size_t workers = host.chosen_slots.empty()
                               ? static_cast<size_t>(host.slots.value_or(0))
                               : host.chosen_slots.size();
    if (workers > 0) {
      planned.flags.push_back(Written("nproc-per-node", absl::StrCat(workers)));
    }
  }
  return planned;
}

// Whether the hosts have different numbers of workers.
bool HaveUnequalWorkers(const std::vector<RemoteHost>& hosts) {
  std::set<std::string> asked;
  for (const RemoteHost& host : hosts) {
    std::string workers;
    for (const std::string& flag : host.flags) {
      if (flag.rfind("--nproc-per-node=", 0) == 0) workers = flag;
    }
    asked.insert(workers);
  }
  return asked.size() > 1;
}

// Returns the flags for every agent: those of this command line, except those
// that concern only this process.
std::vector<std::string> CommonFlags(const RunOptions& options, int least,
                                     int most) {
  std::vector<std::string> flags;
  for (const auto& [name, text] : options.remote.given) {
    if (OnHostsOf(name) == OnHosts::kSent) flags.push_back(Written(name, text));
  }
  flags.push_back(Written("cluster", "none"));
  flags.push_back(Written("nnodes", least == most
                                        ? absl::StrCat(least)
                                        : absl::StrCat(least, ":", most)));
  // Add agent::kConnectionLostSignal to --signals-to-leave. If the connection
  // to an agent is lost, the agent gets this signal and leaves the job, which
  // continues without it. This signal is not SIGHUP, because a user may send
  // SIGHUP to stop the job.
  const auto leave = options.remote.given.find("signals-to-leave");
  flags.push_back(
      Written("signals-to-leave",
              leave == options.remote.given.end() || leave->second.empty()
                  ? rendezvous::SignalName(agent::kConnectionLostSignal)
                  : absl::StrCat(
                        leave->second, ",",
                        rendezvous::SignalName(agent::kConnectionLostSignal))));
  return flags;
}

// Sets the time within which a lost node may rejoin. If the user gave no time,
// a short time is enough, because `launch` immediately restarts a killed agent
// and reconnects to a lost host.
void SetRejoinTimeout(const RunOptions& options, RemotePlan& plan) {
  if (options.rdzv_conf.count("rejoin_timeout") > 0) {
    plan.rejoin_timeout = options.spec.rejoin_timeout;
    return;
  }
  plan.rejoin_timeout = kRejoinTimeout;
  absl::StrAppend(&plan.rendezvous_conf,
                  plan.rendezvous_conf.empty() ? "" : ",",
                  "rejoin_timeout=", ToSeconds(kRejoinTimeout));
}

// Whether one of `hosts` will host the coordinator. True if the user gave no
// endpoint, or one endpoint that names one of `hosts`. False if the user gave
// several endpoints, because these belong to rendezvousd daemons.
bool IsHostedByOne(const RunOptions& options, const std::vector<Host>& hosts) {
  if (options.endpoints.size() > 1) return false;
  return options.endpoints.empty() ||
         std::any_of(hosts.begin(), hosts.end(), [&](const Host& host) {
           return host.name == options.endpoints.front().host;
         });
}

uint64_t Milliseconds(Duration duration) {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(duration).count());
}

}  // namespace

absl::StatusOr<RemotePlan> PlanRemote(const RunOptions& options,
                                      std::vector<Host> hosts,
                                      const FrontFacts& facts) {
  const absl::Status sound = CheckOptions(options);
  if (!sound.ok()) return sound;
  const absl::StatusOr<int> least = Choose(options, hosts);
  if (!least.ok()) return least.status();
  const int most = options.remote.given.count("nnodes") > 0
                       ? options.spec.max_nodes
                       : *least;
  absl::StatusOr<std::vector<std::string>> ssh_words =
      SplitWords(options.remote.ssh_args);
  if (!ssh_words.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--ssh-args=", options.remote.ssh_args, ": ",
                     ssh_words.status().message()));
  }

  RemotePlan plan;
  plan.least = *least;
  plan.most = most;
  plan.alone = most == 1 && hosts.size() == 1;
  plan.is_taken_over = options.endpoints.empty() && most >= 3 &&
                       options.spec.takeover != rendezvous::Takeover::kNever;
  plan.stop_signals = options.signals_to_handle;
  plan.endpoints = options.endpoints;
  plan.port = options.master_port.value_or(0);
  const auto conf = options.remote.given.find("rdzv-conf");
  if (conf != options.remote.given.end()) plan.rendezvous_conf = conf->second;
  if (plan.endpoints.empty() && !plan.alone) SetRejoinTimeout(options, plan);
  if (options.remote.given.count("master-addr") > 0) {
    plan.coordinator_address = options.master.host;
  }
  BeNode& node = plan.node;
  node.version = facts.version;
  node.run = facts.run;
  node.working_directory = facts.working_directory;
  node.environment = facts.environment;
  for (const auto& [name, value] : options.worker_environment) {
    node.environment[name] = value;
  }
  const std::string& token =
      facts.token.empty() && IsHostedByOne(options, hosts) ? facts.fresh_token
                                                           : facts.token;
  if (!token.empty()) node.environment[rendezvous::kTokenVariable] = token;
  node.flags = CommonFlags(options, *least, most);
  if (plan.endpoints.empty() && !plan.alone &&
      options.remote.given.count("coordinator-timeout") == 0) {
    node.flags.push_back(Written(
        "coordinator-timeout",
        absl::StrCat(ToSeconds(std::max(
            kCoordinatorTimeout, *plan.rejoin_timeout + kCoordinatorSlack)))));
  }
  node.program = options.program;
  node.stop_timeout_ms = Milliseconds(options.spec.shutdown_timeout);
  node.ssh = {.arguments = *std::move(ssh_words),
              .timeout_ms = Milliseconds(options.remote.ssh_timeout),
              .fan_out = static_cast<uint32_t>(options.remote.ssh_fan_out),
              .launch = facts.launch};
  for (size_t i = 0; i < hosts.size(); ++i) {
    absl::StatusOr<RemoteHost> host =
        PlanHost(options, hosts[i], static_cast<uint32_t>(i), most);
    if (!host.ok()) return host.status();
    node.hosts.push_back(*std::move(host));
  }
  if (HaveUnequalWorkers(node.hosts)) {
    absl::StrAppend(&plan.rendezvous_conf,
                    plan.rendezvous_conf.empty() ? "" : ",", "mixed_nodes=1");
  }
  return plan;
}

}  // namespace muster::launcher
