#include "launcher/config/config_defaults.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "launcher/cluster/cluster_defaults.h"
#include "launcher/config/config_file.h"
#include "launcher/options/command_line.h"
#include "launcher/options/option_values.h"

namespace muster::launcher {
namespace {

absl::StatusOr<Defaults> FileDefaults(
    const std::string& path, const std::vector<Flag>& flags,
    const std::map<std::string, std::string>& environment) {
  const absl::StatusOr<std::string> text = ReadConfigText(path);
  if (!text.ok()) return text.status();
  absl::StatusOr<ConfigMeaning> meaning =
      ReadConfig(*text, flags, SurroundingsOf(path, environment));
  if (!meaning.ok()) return meaning.status();
  return std::move(meaning->defaults);
}

using Environment = std::map<std::string, std::string>;

// The flags that give the rendezvous address. A configuration file for a single
// node contains the address of the machine on which the file was written, so
// other nodes must not use this address.
constexpr const char* kAddresses[] = {"master-addr", "rdzv-endpoint"};

// Whether `nodes`, a value of --nnodes, means at most one node. False if the
// value is invalid; the flag's own reader reports the error.
bool IsOne(const std::string& nodes) {
  const auto read = ReadNodes(nodes);
  return read.ok() && read->second == 1;
}

FlagValues Together(const FlagValues& given, const Defaults& file) {
  FlagValues known = given;
  known.TakeDefaults(file.flags);
  return known;
}

std::string Written(const FlagDefault& said) {
  return absl::StrCat(said.origin, "=", said.text);
}

// Returns the setting that makes this process one of several nodes of a job:
// the host file, or one of the cluster's variables as "NAME=value". Empty:
// there is no such setting, or the job has one node.
std::string SettingThatNumbersNodes(const FlagValues& known,
                                    const absl::StatusOr<Defaults>& cluster) {
  if (!known.Text("hostfile").empty()) {
    return Written({known.Origin("hostfile"), known.Text("hostfile")});
  }
  if (!cluster.ok() ||
      (known.IsGiven("nnodes") && IsOne(known.Text("nnodes")))) {
    return "";
  }
  for (const char* flag : {"nnodes", "rdzv-endpoint", "node-rank"}) {
    const auto said = cluster->flags.find(flag);
    if (said == cluster->flags.end()) continue;
    if (flag == std::string("nnodes") && IsOne(said->second.text)) continue;
    return Written(said->second);
  }
  return "";
}

class Reconciler {
 public:
  Reconciler(Defaults file, const FlagValues& given,
             const Environment& environment)
      : file_(std::move(file)), given_(given), environment_(environment) {}

  absl::StatusOr<Defaults> Reconcile() {
    if (IsStarted()) file_.flags.erase("slurm");
    Defaults bare = file_;
    for (const std::string& flag : OfOneNode()) bare.flags.erase(flag);
    const FlagValues known = Together(given_, bare);
    const auto around = ClusterDefaults(known, environment_);
    const std::string who = SettingThatNumbersNodes(known, around);
    if (!who.empty()) {
      Drop(who);
    } else if (SaysOne() && !around.ok()) {
      const FlagDefault& nodes = file_.flags.at("nnodes");
      return absl::InvalidArgumentError(
          absl::StrCat(around.status().message(), " (", Written(nodes),
                       " is of a file, and does not decide that)"));
    }
    const auto cluster = ClusterDefaults(Together(given_, file_), environment_);
    if (!cluster.ok()) return cluster.status();
    return Layered(std::move(file_), *cluster);
  }

 private:
  bool Says(const std::string& flag) const {
    return file_.flags.count(flag) > 0 && !given_.IsGiven(flag);
  }
  bool SaysOne() const {
    return Says("nnodes") && IsOne(file_.flags.at("nnodes").text);
  }

  // Whether srun has already started this process as a task of a Slurm step. If
  // so, the setting `slurm` in the file has no further effect.
  bool IsStarted() const {
    if (!Says("slurm")) return false;
    Defaults started = file_;
    started.flags.erase("slurm");
    const auto step = ClusterDefaults(Together(given_, started), environment_);
    if (!step.ok()) return false;
    const auto nodes = step->flags.find("nnodes");
    return nodes != step->flags.end() &&
           nodes->second.origin == "SLURM_STEP_NUM_TASKS";
  }

  // Returns the flags in the configuration file that make sense only for a
  // single node. They must not apply if this process is one of several nodes.
  // If the configuration file also names a host file, its --nnodes,
  // --master-addr and --rdzv-endpoint describe the job on those hosts, and are
  // not returned.
  std::vector<std::string> OfOneNode() const {
    std::vector<std::string> flags;
    const bool with_hosts = Says("hostfile");
    if (SaysOne() && !with_hosts) flags.emplace_back("nnodes");
    if (Says("node-rank")) flags.emplace_back("node-rank");
    if (flags.empty() || with_hosts || IsEndpointGiven(given_)) return flags;
    for (const char* flag : kAddresses) {
      if (Says(flag)) flags.emplace_back(flag);
    }
    return flags;
  }

  void Drop(const std::string& who) {
    const std::vector<std::string> flags = OfOneNode();
    if (flags.empty()) return;
    std::vector<std::string> said;
    for (const std::string& flag : flags) {
      said.push_back(Written(file_.flags.at(flag)));
      file_.flags.erase(flag);
    }
    file_.remarks.push_back(
        absl::StrCat(absl::StrJoin(said, ", "),
                     ": no effect, because one file is not one node here: "
                     "nodes and their places come from ",
                     who, "; on the command line they would count"));
  }

  Defaults file_;
  const FlagValues& given_;
  const Environment& environment_;
};

}  // namespace

DefaultsSource LaunchDefaults(
    const std::vector<Flag>& flags,
    const std::map<std::string, std::string>& environment) {
  return [=](const FlagValues& given) -> absl::StatusOr<Defaults> {
    const std::string path = given.Text("config");
    if (path.empty()) return ClusterDefaults(given, environment);
    absl::StatusOr<Defaults> file = FileDefaults(path, flags, environment);
    if (!file.ok()) return file.status();
    return FileAndCluster(*std::move(file), given, environment);
  };
}

absl::StatusOr<Defaults> FileAndCluster(Defaults file, const FlagValues& given,
                                        const Environment& environment) {
  return Reconciler(std::move(file), given, environment).Reconcile();
}

}  // namespace muster::launcher
