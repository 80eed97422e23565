// The flags that say which nodes a job has, where the nodes meet, and how
// agents are started on other nodes.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/net/address_set.h"
#include "launcher/options/flag_table.h"
#include "launcher/options/option_values.h"
#include "launcher/options/run_options.h"

namespace muster::launcher {
namespace {

using Text = const std::string&;

absl::Status SetNodes(RunOptions& options,
                      const absl::StatusOr<std::pair<int, int>>& nodes) {
  if (!nodes.ok()) return nodes.status();
  options.spec.min_nodes = nodes->first;
  options.spec.max_nodes = nodes->second;
  return absl::OkStatus();
}

absl::Status SetMasterPort(RunOptions& options,
                           const absl::StatusOr<int64_t>& port) {
  if (!port.ok()) return port.status();
  options.master_port = static_cast<int>(*port);
  options.master.port = *options.master_port;
  return absl::OkStatus();
}

absl::StatusOr<RendezvousBackend> ReadBackend(Text text) {
  if (text == "static") return RendezvousBackend::kStatic;
  if (text == "c10d" || text == "muster") return RendezvousBackend::kDynamic;
  return absl::InvalidArgumentError(
      text.rfind("etcd", 0) == 0
          ? "etcd is not needed: the coordinator brings its own rendezvous; "
            "write c10d and --rdzv-endpoint=HOST:PORT"
          : "is an unknown rendezvous; write static, c10d or muster");
}

absl::StatusOr<rendezvous::Takeover> ReadTakeover(Text text) {
  if (text == "auto") return rendezvous::Takeover::kAuto;
  if (text == "majority") return rendezvous::Takeover::kMajority;
  if (text == "never") return rendezvous::Takeover::kNever;
  return absl::InvalidArgumentError(
      "is an unknown takeover; write auto, majority or never");
}

absl::StatusOr<rendezvous::Quarantine> ReadQuarantine(Text text) {
  if (text == "on") return rendezvous::Quarantine::kOn;
  if (text == "off") return rendezvous::Quarantine::kOff;
  return absl::InvalidArgumentError("is neither on nor off");
}

absl::StatusOr<std::string> ReadHost(Text text) {
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

absl::StatusOr<std::vector<std::string>> ReadStoreClients(Text text) {
  std::vector<std::string> clients = ReadList(text);
  AddressSet checked;
  for (const std::string& client : clients) {
    const absl::Status known = checked.Add(client);
    if (!known.ok()) return known;
  }
  return clients;
}

absl::StatusOr<std::vector<std::string>> ReadLabels(Text text) {
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

constexpr RdzvConfKey kRdzvConfKeys[] = {
    {.key = "timeout",
     .help = "used if join_timeout is not given",
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.spec.join_timeout, ReadSeconds(t));
         }},
    {.key = "join_timeout",
     .default_text = "600",
     .help = "limit of the wait for enough nodes",
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.spec.join_timeout, ReadSeconds(t));
         }},
    {.key = "rejoin_timeout",
     .help = "the same limit after a loss, by default 30 in a Slurm step, "
             "which starts no lost agent again, else join_timeout",
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.spec.rejoin_timeout, ReadSeconds(t));
         }},
    {.key = "last_call_timeout",
     .default_text = "30",
     .help = "wait for more nodes once there are enough; at least 3 s and 2 "
             "intervals of keep_alive_interval if other nodes may take over",
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.spec.last_call, ReadSeconds(t));
         }},
    {.key = "close_timeout",
     .default_text = "30",
     .help = "limit of the coordinator's wait for the other nodes at the end",
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.close_timeout, ReadSeconds(t));
         }},
    {.key = "keep_alive_interval",
     .default_text = "2",
     .help = "maximum interval of a node's reports",
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.spec.keep_alive_interval, ReadSeconds(t));
         }},
    {.key = "keep_alive_max_attempt",
     .default_text = "5",
     .help = "missing reports after which a node is lost",
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.spec.keep_alive_misses, ReadNumber(t, 1, 1000));
         }},
    {.key = "read_timeout",
     .help = "used if --connect-timeout is not given",
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.policy.connect_timeout, ReadSeconds(t));
         }},
    {.key = "is_host",
     .help = "0 or 1, whether this node hosts the coordinator",
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.hosting,
                      ReadEither(t, Hosting::kNever, Hosting::kAlways));
         }},
    {.key = "mixed_nodes",
     .default_text = "0",
     .help = "1 on every node if programs, arguments and numbers of workers "
             "may differ between nodes; otherwise a node with another command "
             "is refused as another job's",
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.spec.mixed_nodes, ReadSwitch(t));
         }},
    // Keys of PyTorch's own rendezvous (2.15). Their values have no effect, but
    // are checked, so that an error in a value is reported as in PyTorch.
    // PyTorch itself ignores the value of `rank`: it takes the node's rank from
    // --node-rank.
    {.key = "store_type",
     .read =
         [](Text t, RunOptions&) {
           return ReadChoice(absl::AsciiStrToLower(t), {"tcp", "file"})
               .status();
         }},
    {.key = "heartbeat_timeout",
     .read = [](Text t, RunOptions&) { return ReadSeconds(t).status(); }},
    {.key = "cas_backoff_max_seconds",
     .read = [](Text t, RunOptions&) { return ReadSeconds(t).status(); }},
    {.key = "rank",
     .read = [](Text t,
                RunOptions&) { return ReadNumber(t, 0, 999'999).status(); }},
};

std::string KnownKeys() {
  std::string keys;
  for (const RdzvConfKey& row : kRdzvConfKeys) {
    if (row.help[0] == '\0') continue;
    absl::StrAppend(&keys, keys.empty() ? "" : ", ", row.key);
  }
  return keys;
}

// Returns the help text for the keys of --rdzv-conf: the name of each key, its
// default in parentheses, and its help. For two keys: "KEY (600): its help. KEY
// (0): its help.".
std::string RdzvConfHelp() {
  std::string help;
  for (const RdzvConfKey& row : kRdzvConfKeys) {
    if (row.help[0] == '\0') continue;
    absl::StrAppend(&help, help.empty() ? "" : ". ", row.key);
    if (row.default_text[0] != '\0') {
      absl::StrAppend(&help, " (", row.default_text, ")");
    }
    absl::StrAppend(&help, ": ", row.help);
  }
  return help + ".";
}

bool IsKnown(const std::string& key) {
  return std::any_of(std::begin(kRdzvConfKeys), std::end(kRdzvConfKeys),
                     [&](const RdzvConfKey& row) { return key == row.key; });
}

// Reads the value of --rdzv-conf, "key=value,key=value". If a key occurs
// several times, its last value counts.
absl::Status ReadRdzvConf(Text text, RunOptions& options) {
  std::map<std::string, std::string>& given = options.rdzv_conf;
  for (const std::string& pair : ReadList(text)) {
    const size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          pair, " is not of the form key=value; known keys: ", KnownKeys()));
    }
    const std::string key = pair.substr(0, equals);
    if (!IsKnown(key)) {
      return absl::InvalidArgumentError(
          absl::StrCat(key, " is an unknown key; known keys: ", KnownKeys()));
    }
    given[key] = pair.substr(equals + 1);
  }
  for (const RdzvConfKey& row : kRdzvConfKeys) {
    const auto found = given.find(row.key);
    if (found == given.end()) continue;
    const absl::Status read = row.read(found->second, options);
    if (!read.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(row.key, "=", found->second, " ", read.message()));
    }
  }
  return absl::OkStatus();
}

// constexpr, so that the table needs no initialization when the program starts.
constexpr Flag kFlags[] = {
    {.name = "nnodes",
     .value = "N|MIN:MAX",
     .default_text = "1:1",
     .group = FlagGroup::kCluster,
     .help = "Number of nodes, or minimum and maximum. With a range the "
             "job waits for MIN nodes and a last call for more, and "
             "continues when nodes join or leave.",
     .on_hosts = OnHosts::kNotSent,
     .read = [](Text t, RunOptions& o) { return SetNodes(o, ReadNodes(t)); }},
    {.name = "standalone",
     .group = FlagGroup::kCluster,
     .help = "One node on its own: the coordinator listens on loopback "
             "on a free port and the run id is a fresh UUID. "
             "--rdzv-backend, --rdzv-endpoint and --rdzv-id are ignored.",
     .user = FlagUser::kLaunchOnly,
     .on_hosts = OnHosts::kOfOneNode,
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.standalone,
                      ReadEither(t, Standalone::kNo, Standalone::kYes));
         }},
    {.name = "rdzv-endpoint",
     .value = "HOST[:PORT],...",
     .group = FlagGroup::kCluster,
     .help = "Where the nodes meet; the port defaults to 29400. The node "
             "that owns HOST's address hosts the coordinator, the others "
             "connect. IPv6: [ADDRESS]:PORT. Up to 8 endpoints: with "
             "--takeover=auto or majority, those of nodes; the first hosts the "
             "coordinator, and a node that starts late or again finds the one "
             "that has taken over. Without: those of rendezvousd daemons that "
             "share their state; every node connects to the one that answers, "
             "and no node hosts the coordinator.",
     .on_hosts = OnHosts::kNotSent,
     .read = [](Text t,
                RunOptions& o) { return Set(o.endpoints, ReadEndpoints(t)); }},
    {.name = "rdzv-id",
     .value = "ID",
     .default_text = "none",
     .group = FlagGroup::kCluster,
     .help = "The run id: the job's name, equal on every node.",
     .read = [](Text t, RunOptions& o) { return Set(o.run_id, ReadName(t)); }},
    {.name = "rdzv-backend",
     .value = "NAME",
     .default_text = "static",
     .group = FlagGroup::kCluster,
     .help = "static: nodes meet at --master-addr:--master-port unless "
             "--rdzv-endpoint is given. c10d, muster: nodes meet at "
             "--rdzv-endpoint (localhost:29400 if not given). The same "
             "coordinator serves all three.",
     .completions = "static c10d muster",
     .on_hosts = OnHosts::kNotSent,
     .read = [](Text t,
                RunOptions& o) { return Set(o.backend, ReadBackend(t)); }},
    {.name = "rdzv-conf",
     .value = "KEY=VALUE,...",
     .group = FlagGroup::kCluster,
     .help = "Fine tuning; times are in seconds.",
     .more_help = RdzvConfHelp,
     .on_hosts = OnHosts::kNotSent,
     .read = [](Text t, RunOptions& o) -> absl::Status {
       return ReadRdzvConf(t, o);
     }},
    {.name = "node-rank",
     .value = "N",
     .group = FlagGroup::kCluster,
     .help = "This node's rank among the nodes: used as given, or "
             "refused with a reason. In a static job rank 0 hosts the "
             "coordinator.",
     .on_hosts = OnHosts::kOfOneNode,
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.node_rank, ReadNumber(t, 0, 999'999));
         }},
    {.name = "master-addr",
     .value = "HOST",
     .default_text = "127.0.0.1",
     .group = FlagGroup::kCluster,
     .help = "Static jobs: the host of node rank 0, where the "
             "coordinator listens.",
     .user = FlagUser::kLaunchOnly,
     .on_hosts = OnHosts::kNotSent,
     .read = [](Text t,
                RunOptions& o) { return Set(o.master.host, ReadHost(t)); }},
    {.name = "master-port",
     .value = "PORT",
     .default_text = "29500",
     .group = FlagGroup::kCluster,
     .help = "Static jobs: the coordinator's port. On a single node: the "
             "port that workers find as MASTER_PORT (a free one if not "
             "given).",
     .user = FlagUser::kLaunchOnly,
     .on_hosts = OnHosts::kNotSent,
     .read =
         [](Text t, RunOptions& o) {
           return SetMasterPort(o, ReadNumber(t, 0, 65535));
         }},
    {.name = "store-port",
     .value = "PORT",
     .default_text = "0",
     .group = FlagGroup::kCluster,
     .help = "The port of the workers' store on rank 0's node, which "
             "workers find as MASTER_PORT: for a firewall that lets only "
             "named ports through. 0: a free port, another one each "
             "round.",
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.store_port, ReadNumber(t, 0, 65535));
         }},
    {.name = "store-clients",
     .value = "LIST",
     .group = FlagGroup::kCluster,
     .help = "Addresses and networks, separated by commas, that the workers' "
             "store serves besides the hosts of the round's nodes: for "
             "workers behind an address that the coordinator does not see, "
             "such as a NAT's. any: all addresses.",
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.store_clients, ReadStoreClients(t));
         }},
    {.name = "local-addr",
     .value = "HOST",
     .group = FlagGroup::kCluster,
     .help = "The address at which peers connect to this node, if it is "
             "not the one that reaches the coordinator.",
     .on_hosts = OnHosts::kOfOneNode,
     .read = [](Text t,
                RunOptions& o) { return Set(o.local_addr, ReadHost(t)); }},
    {.name = "node-id",
     .value = "NAME",
     .group = FlagGroup::kCluster,
     .help = "This node's name in the job; it stays the same when the "
             "agent is started again.",
     .on_hosts = OnHosts::kOfOneNode,
     .read = [](Text t, RunOptions& o) { return Set(o.node_id, ReadName(t)); }},
    {.name = "takeover",
     .value = "WHEN",
     .default_text = "auto",
     .group = FlagGroup::kCluster,
     .help = "In a job of 3 nodes or more: when another launch takes over from "
             "the one that hosts the coordinator, once that is lost. majority: "
             "after more than half of the nodes of the "
             "newest round have come to it. auto: also once so many nodes have "
             "come that the others, at most MAX in all, are fewer than half of "
             "MIN (if MIN is more than half of MAX: than half of MAX). never: "
             "the nodes wait for the coordinator.",
     .completions = "auto majority never",
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.spec.takeover, ReadTakeover(t));
         }},
    {.name = "state-dir",
     .value = "DIR",
     .group = FlagGroup::kCluster,
     .help = "A folder for the job's state. If the node that hosts the "
             "coordinator is lost, or its launch is killed or preempted, the "
             "same command, given again, goes on with the job: round numbers, "
             "restart budget, drains, log folder and verdict as before, and "
             "other nodes wait for it for --coordinator-timeout. If another "
             "node "
             "can take over (--takeover), the nodes go on by themselves, and "
             "the folder serves a job whose nodes are all started again: "
             "round numbers, restart budget and log folder as the hosting "
             "launch has recorded them, and its verdict, unless the job was "
             "preempted or lacked nodes. On a shared file system, so that a "
             "requeued first node goes on wherever it runs. One folder for "
             "each job; only the hosting launch uses it.",
     .completions = "<directory>",
     .user = FlagUser::kLaunchOnly,
     .read = [](Text t,
                RunOptions& o) { return Set(o.state_dir, ReadFolder(t)); }},
    {.name = "quarantine",
     .value = "on|off",
     .default_text = "on",
     .group = FlagGroup::kCluster,
     .help = "off: machines keep their places in new rounds whatever their "
             "faults, which launch status and launch nodes still show. Bans "
             "stay valid. Only the launch which hosts the coordinator uses "
             "it.",
     .completions = "on off",
     .user = FlagUser::kLaunchOnly,
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.quarantine, ReadQuarantine(t));
         }},
    {.name = "on-quarantine",
     .value = "COMMAND",
     .group = FlagGroup::kCluster,
     .help = "A shell command that the launch which hosts the coordinator runs "
             "for each machine that is quarantined because of its faults, "
             "with MUSTER_NODE, MUSTER_ADDRESS, MUSTER_REASON, MUSTER_SCORE "
             "and MUSTER_RUN_ID in its environment, for example to drain the "
             "node (deploy/slurm/drain_node.sh). It is killed after 60 s.",
     .user = FlagUser::kLaunchOnly,
     .read = [](Text t, RunOptions& o) { return Set(o.on_quarantine, t); }},
    {.name = "token-file",
     .value = "FILE",
     .group = FlagGroup::kCluster,
     .help = "A file that holds the job's shared secret; MUSTER_TOKEN in "
             "the environment does the same. Without a secret every "
             "machine that reaches the port can join; a job of one node "
             "(--standalone, --nnodes=1) then makes a secret of its own.",
     .completions = "<file>",
     .on_hosts = OnHosts::kNotSent,
     .read = [](Text t, RunOptions& o) { return Set(o.token_file, t); }},
    {.name = "tls-cert",
     .value = "FILE",
     .group = FlagGroup::kCluster,
     .help = "This node's certificate, in PEM form, for mutual TLS 1.3 with "
             "the coordinator. Every node needs --tls-cert, --tls-key and "
             "--tls-ca. The certificate must have the node's host name or "
             "address, or the URI muster:job/RUN_ID, as a subject alternative "
             "name; the coordinator's also the host of --rdzv-endpoint. A "
             "changed file is read again within 5 s.",
     .completions = "<file>",
     .variable = "MUSTER_TLS_CERT",
     .read = [](Text t, RunOptions& o) { return Set(o.tls.certificate, t); }},
    {.name = "tls-key",
     .value = "FILE",
     .group = FlagGroup::kCluster,
     .help = "The private key of --tls-cert, without a passphrase.",
     .completions = "<file>",
     .variable = "MUSTER_TLS_KEY",
     .read = [](Text t, RunOptions& o) { return Set(o.tls.key, t); }},
    {.name = "tls-ca",
     .value = "FILE",
     .group = FlagGroup::kCluster,
     .help = "The certificates of the authorities that are trusted to sign "
             "the job's certificates.",
     .completions = "<file>",
     .variable = "MUSTER_TLS_CA",
     .read = [](Text t, RunOptions& o) { return Set(o.tls.authority, t); }},
    {.name = "connect-timeout",
     .value = "SECONDS",
     .default_text = "60",
     .group = FlagGroup::kCluster,
     .help = "Limit for the first connection to the coordinator, "
             "including the resolution of its name.",
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.policy.connect_timeout, ReadSeconds(t));
         }},
    {.name = "coordinator-timeout",
     .value = "SECONDS",
     .default_text = "600",
     .group = FlagGroup::kCluster,
     .help = "How long the node waits, and its workers continue, while the "
             "coordinator cannot be reached.",
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.policy.coordinator_timeout, ReadSeconds(t));
         }},
    {.name = "cluster",
     .value = "MODE",
     .default_text = "auto",
     .group = FlagGroup::kCluster,
     .help = "The source of settings that are not given (nodes, ranks, "
             "endpoint, workers, run id). auto: the environment of Slurm "
             "or Kubernetes if this process is in one of their jobs; "
             "none: no cluster.",
     .completions = "auto none slurm kubernetes",
     .on_hosts = OnHosts::kNotSent,
     .read = [](Text t, RunOptions&) -> absl::Status {
       return ReadChoice(t, {"auto", "none", "slurm", "kubernetes"}).status();
     }},
    {.name = "topology",
     .value = "KEY=VALUE,...",
     .group = FlagGroup::kCluster,
     .help = "This node's place in the network, from the outermost to "
             "the innermost switch, such as block=b1,rack=r7: nodes with "
             "equal labels get neighbouring ranks. Default: the labels "
             "from Slurm or Kubernetes.",
     .read = [](Text t,
                RunOptions& o) { return Set(o.topology, ReadLabels(t)); }},
    {.name = "config",
     .value = "FILE",
     .group = FlagGroup::kCluster,
     .help = "A YAML file with values of flags: Muster's own form, "
             "Accelerate's default_config.yaml, or a file with "
             "InstructLab's train: section. The command line and PET_ "
             "variables override it. launch config writes and shows such "
             "a file.",
     .completions = "<file>",
     .user = FlagUser::kLaunchOnly,
     .pet = PetVariable::kNone,
     .on_hosts = OnHosts::kNotSent},
    {.name = "slurm",
     .group = FlagGroup::kRemote,
     .help = "In a Slurm allocation, without srun: start an agent on "
             "each of its nodes.",
     .user = FlagUser::kLaunchOnly,
     .pet = PetVariable::kNone,
     .on_hosts = OnHosts::kNotSent,
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.remote.start,
                      ReadEither(t, RemoteStart::kNone, RemoteStart::kSlurm));
         }},
    {.name = "hostfile",
     .value = "FILE",
     .group = FlagGroup::kRemote,
     .help = "Start an agent over ssh on each host of FILE: lines of "
             "HOST, HOST slots=N (DeepSpeed, Open MPI) or HOST:N "
             "(MPICH).",
     .completions = "<file>",
     .user = FlagUser::kLaunchOnly,
     .pet = PetVariable::kNone,
     .on_hosts = OnHosts::kNotSent,
     .read = [](Text t, RunOptions& o) { return Set(o.remote.host_file, t); }},
    {.name = "include",
     .value = "HOSTS",
     .group = FlagGroup::kRemote,
     .help = "Use only these hosts and slots of --hostfile: "
             "HOST[:SLOT,...][@HOST...].",
     .user = FlagUser::kLaunchOnly,
     .pet = PetVariable::kNone,
     .on_hosts = OnHosts::kNotSent,
     .needs = "hostfile",
     .read = [](Text t, RunOptions& o) { return Set(o.remote.include, t); }},
    {.name = "exclude",
     .value = "HOSTS",
     .group = FlagGroup::kRemote,
     .help = "Use all hosts and slots of --hostfile except these.",
     .user = FlagUser::kLaunchOnly,
     .pet = PetVariable::kNone,
     .on_hosts = OnHosts::kNotSent,
     .needs = "hostfile",
     .read = [](Text t, RunOptions& o) { return Set(o.remote.exclude, t); }},
    {.name = "export",
     .value = "LIST",
     .group = FlagGroup::kRemote,
     .help = "More variables that --hostfile sends to the other nodes: "
             "names, prefixes such as MY_*, or NAME=VALUE.",
     .user = FlagUser::kLaunchOnly,
     .pet = PetVariable::kNone,
     .on_hosts = OnHosts::kNotSent,
     .needs = "hostfile",
     .read = [](Text t,
                RunOptions& o) { return Set(o.remote.exports, ReadList(t)); }},
    {.name = "ssh-args",
     .value = "TEXT",
     .group = FlagGroup::kRemote,
     .help = "More arguments of ssh, such as '-p 2222 -i key'.",
     .user = FlagUser::kLaunchOnly,
     .pet = PetVariable::kNone,
     .on_hosts = OnHosts::kNotSent,
     .needs = "hostfile",
     .read = [](Text t, RunOptions& o) { return Set(o.remote.ssh_args, t); }},
    {.name = "ssh-timeout",
     .value = "SECONDS",
     .default_text = "30",
     .group = FlagGroup::kRemote,
     .help = "Limit for reaching a host and for its answer.",
     .user = FlagUser::kLaunchOnly,
     .pet = PetVariable::kNone,
     .on_hosts = OnHosts::kNotSent,
     .needs = "hostfile",
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.remote.ssh_timeout, ReadPositiveSeconds(t));
         }},
    {.name = "ssh-fan-out",
     .value = "N",
     .default_text = "32",
     .group = FlagGroup::kRemote,
     .help = "Number of hosts that one machine starts itself; these "
             "hosts start the next ones.",
     .user = FlagUser::kLaunchOnly,
     .pet = PetVariable::kNone,
     .on_hosts = OnHosts::kNotSent,
     .needs = "hostfile",
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.remote.ssh_fan_out, ReadNumber(t, 1, 1024));
         }},
};

}  // namespace

std::span<const Flag> ClusterFlags() { return kFlags; }

std::span<const RdzvConfKey> RdzvConfKeys() { return kRdzvConfKeys; }

}  // namespace muster::launcher
