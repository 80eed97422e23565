#include "launcher/frontend/deepspeed_line.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "launcher/hostfile/host_file.h"

namespace muster::launcher {
namespace {

constexpr Flag Row(const char* name, char letter, const char* value,
                   FlagGroup group, const char* help) {
  return {.name = name,
          .letter = letter,
          .value = value,
          .group = group,
          .help = help,
          .user = FlagUser::kLaunchOnly,
          .pet = PetVariable::kNone};
}

constexpr Flag kFlags[] = {
    Row("hostfile", 'H', "FILE", FlagGroup::kRemote,
        "Hosts with their slots; /job/hostfile if it is there. launch "
        "--hostfile."),
    Row("include", 'i', "HOSTS", FlagGroup::kRemote,
        "Of the hosts these and their slots. launch --include."),
    Row("exclude", 'e', "HOSTS", FlagGroup::kRemote,
        "Of the hosts all but these. launch --exclude."),
    Row("num-nodes", 0, "N", FlagGroup::kRemote,
        "The first N hosts. launch --nnodes."),
    Row("num-gpus", 0, "N", FlagGroup::kWorkers,
        "Workers on each node, on GPUs 0 to N-1. launch --nproc-per-node."),
    Row("num-accelerators", 0, "N", FlagGroup::kWorkers,
        "The same as --num_gpus."),
    Row("master-port", 0, "PORT", FlagGroup::kCluster,
        "Where the workers of one node, or the nodes with --no_ssh, meet."),
    Row("master-addr", 0, "HOST", FlagGroup::kCluster,
        "The first node's address."),
    Row("node-rank", 0, "N", FlagGroup::kCluster,
        "This node's place among the hosts, with --no_ssh."),
    Row("launcher", 0, "NAME", FlagGroup::kRemote,
        "slurm: launch --slurm; every other one: ssh."),
    Row("launcher-args", 0, "TEXT", FlagGroup::kRemote,
        "Without effect: launch starts the nodes itself; see --ssh-args."),
    Row("module", 0, "", FlagGroup::kWorkers,
        "The program is a Python module."),
    Row("no-python", 0, "", FlagGroup::kWorkers, "Execute the program itself."),
    Row("no-local-rank", 0, "", FlagGroup::kWorkers,
        "The program does not find --local_rank=N."),
    Row("no-ssh", 0, "", FlagGroup::kRemote,
        "The user starts the same command on each node."),
    Row("no-ssh-check", 0, "", FlagGroup::kRemote,
        "Without effect: every host is reached once."),
    Row("force-multi", 0, "", FlagGroup::kRemote,
        "Start over ssh even a single host."),
    Row("save-pid", 0, "", FlagGroup::kOutput,
        "Refused: no file of process ids is written."),
    Row("enable-each-rank-log", 0, "DIR", FlagGroup::kOutput,
        "Each rank's output goes to a file, not to the console. launch "
        "--log-dir with --redirects 3."),
    Row("autotuning", 0, "HOW", FlagGroup::kWorkers,
        "Refused: DeepSpeed's own launcher tunes."),
    Row("bind-cores-to-rank", 0, "", FlagGroup::kWorkers,
        "Each rank its own cores. launch --numa-binding exclusive."),
    Row("bind-core-list", 0, "LIST", FlagGroup::kWorkers,
        "Refused: start launch under taskset with this list."),
    Row("ssh-port", 0, "PORT", FlagGroup::kRemote,
        "launch --ssh-args '-p PORT'."),
    Row("venv-script", 0, "FILE", FlagGroup::kRemote,
        "Refused: give PYTHON_EXEC, the interpreter in that environment."),
    Row("log-level", 0, "LEVEL", FlagGroup::kOutput,
        "error, critical: launch --quiet; the others have no effect."),
    Row("quiet", 'q', "", FlagGroup::kOutput, "launch --quiet."),
    Row("help", 'h', "", FlagGroup::kGeneral, "Show this text."),
};

}  // namespace

std::vector<Flag> DeepSpeedFlags() {
  return {std::begin(kFlags), std::end(kFlags)};
}

absl::Status WithDeepSpeedFlagNames(const absl::Status& error) {
  std::vector<std::pair<std::string, std::string>> words = {
      {"--nproc-per-node", "--num_gpus"}, {"--nnodes", "--num_nodes"}};
  for (const Flag& flag : kFlags) {
    const std::string ours = absl::StrCat("--", flag.name);
    words.emplace_back(
        ours, absl::StrCat("--", absl::StrReplaceAll(flag.name, {{"-", "_"}})));
  }
  return {error.code(), absl::StrReplaceAll(error.message(), words)};
}

namespace {

constexpr int kMaxGpus = 4096;
constexpr char kVisible[] = "CUDA_VISIBLE_DEVICES";

absl::Status Refuse(const std::string& flag, const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat("--", flag, ": ", why));
}

class Translator {
 public:
  Translator(const CommandLine& line,
             const std::optional<std::vector<Host>>& hosts)
      : line_(line), hosts_(hosts) {}

  absl::StatusOr<OwnLine> Translate() {
    absl::Status status = CheckNotDone();
    if (status.ok()) status = CheckTogether();
    if (status.ok()) status = ReadNumbers();
    if (status.ok()) status = ReadNodes();
    if (!status.ok()) return status;
    ReadWorkers();
    own_.args.insert(own_.args.end(), line_.rest.begin(), line_.rest.end());
    return std::move(own_);
  }

 private:
  bool Given(const std::string& name) const {
    return line_.values.count(name) > 0;
  }
  std::string Text(const std::string& name) const {
    const auto found = line_.values.find(name);
    return found == line_.values.end() ? "" : found->second.back();
  }
  void Add(const std::string& flag, const std::string& value) {
    own_.args.push_back(absl::StrCat("--", flag, "=", value));
  }

  absl::Status CheckNotDone() {
    if (!Text("autotuning").empty()) {
      return Refuse("autotuning",
                    "is not done here; run DeepSpeed's own launcher");
    }
    if (Given("bind-core-list")) {
      return Refuse("bind_core_list",
                    "is not done here; start launch under taskset");
    }
    if (Given("venv-script")) {
      return Refuse("venv_script",
                    "is not run; set PYTHON_EXEC to that environment's "
                    "interpreter");
    }
    if (Given("save-pid")) {
      return Refuse("save_pid", "no file of process ids is written");
    }
    if (!Text("launcher-args").empty()) {
      own_.remarks.emplace_back(
          "--launcher_args has no effect: launch starts the nodes itself");
    }
    return absl::OkStatus();
  }

  absl::Status CheckTogether() const {
    const bool filtered = !Text("include").empty() || !Text("exclude").empty();
    if (filtered && (Given("num-nodes") || Given("num-gpus") ||
                     Given("num-accelerators"))) {
      return Refuse(Given("num-nodes") ? "num_nodes" : "num_gpus",
                    "does not go with --include or --exclude");
    }
    return absl::OkStatus();
  }

  absl::StatusOr<int> Number(const std::string& name, int least,
                             int most) const {
    int number = 0;
    if (!absl::SimpleAtoi(Text(name), &number) || number > most ||
        (number < least && number != -1)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--", name, "=", Text(name), ": is no number from ",
                       least, " to ", most));
    }
    return number;
  }

  absl::Status ReadNumbers() {
    for (const auto& [name, most, number] :
         {std::tuple("num-nodes", 1'000'000, &nodes_),
          std::tuple("num-gpus", kMaxGpus, &gpus_),
          std::tuple("num-accelerators", kMaxGpus, &gpus_)}) {
      if (!Given(name)) continue;
      const absl::StatusOr<int> read = Number(name, 0, most);
      if (!read.ok()) return read.status();
      // Keeps only a positive number. In DeepSpeed, 0 and -1 mean all nodes or
      // all GPUs, as if the flag were not given.
      if (*read > 0) *number = *read;
    }
    return absl::OkStatus();
  }

  absl::Status ReadNodes() {
    if (absl::AsciiStrToLower(Text("launcher")) == "slurm" &&
        !Given("no-ssh")) {
      return ReadSlurm();
    }
    if (!hosts_.has_value()) return ReadThisNode();
    absl::StatusOr<std::vector<Host>> active =
        FilterHosts(*hosts_, Text("include"), Text("exclude"));
    if (!active.ok()) return active.status();
    if (nodes_.has_value() && static_cast<size_t>(*nodes_) < active->size()) {
      active->resize(static_cast<size_t>(*nodes_));
    }
    if (Given("no-ssh")) return ReadNodeOf(*active);
    if (active->size() == 1 && !Given("force-multi")) {
      TakeSlots(active->front());
      AddMasterPort();
      return absl::OkStatus();
    }
    ReadRemote();
    return absl::OkStatus();
  }

  // Translates a command line without a host file: the job has only this node.
  absl::Status ReadThisNode() {
    if (nodes_.value_or(1) > 1) {
      return Refuse("num_nodes", "there is no host file with more nodes");
    }
    if (!Text("exclude").empty()) {
      return Refuse("exclude",
                    "needs a host file that says how many slots there are; "
                    "write --include");
    }
    Host here{
        .name = "localhost", .user = "", .slots = kMaxGpus, .chosen_slots = {}};
    const absl::StatusOr<std::vector<Host>> chosen =
        FilterHosts({here}, Text("include"), "");
    if (!chosen.ok()) return chosen.status();
    here = chosen->front();
    if (here.chosen_slots.empty()) here.slots.reset();
    TakeSlots(here);
    AddMasterPort();
    return absl::OkStatus();
  }

  // Translates --no_ssh. This process is then one of several nodes, which the
  // user starts separately.
  absl::Status ReadNodeOf(const std::vector<Host>& hosts) {
    const absl::StatusOr<int> rank =
        Number("node-rank", 0, static_cast<int>(hosts.size()) - 1);
    if (!Given("node-rank") || (rank.ok() && *rank < 0)) {
      return Refuse("no_ssh", "needs --node_rank");
    }
    if (!rank.ok()) return rank.status();
    TakeSlots(hosts[static_cast<size_t>(*rank)]);
    Add("nnodes", std::to_string(hosts.size()));
    Add("node-rank", std::to_string(*rank));
    Add("master-addr",
        Given("master-addr") ? Text("master-addr") : hosts.front().name);
    AddMasterPort();
    return absl::OkStatus();
  }

  // Translates --launcher slurm. The job uses the nodes of the Slurm
  // allocation, even if the allocation has one node and there is no host file.
  // A host file gives only the number of nodes and slots.
  absl::Status ReadSlurm() {
    for (const char* const flag : {"include", "exclude"}) {
      if (Text(flag).empty()) continue;
      return Refuse(flag,
                    "does not go with --launcher slurm, which takes the "
                    "allocation's nodes and GPUs; ask sbatch for them with "
                    "--nodelist or --exclude");
    }
    if (hosts_.has_value()) {
      const int listed = static_cast<int>(hosts_->size());
      nodes_ = std::min(nodes_.value_or(listed), listed);
      const std::optional<int> slots = hosts_->front().slots;
      for (int i = 0; i < *nodes_; ++i) {
        const Host& host = (*hosts_)[static_cast<size_t>(i)];
        if (gpus_.has_value() || host.slots == slots) continue;
        return Refuse("hostfile",
                      absl::StrCat(host.name, " has other slots than ",
                                   hosts_->front().name,
                                   ", but --launcher slurm takes the "
                                   "allocation's nodes in Slurm's order; give "
                                   "--num_gpus, or leave --hostfile out"));
      }
      if (!gpus_.has_value()) gpus_ = slots;
    }
    own_.args.emplace_back("--slurm");
    AddSizes();
    return absl::OkStatus();
  }

  void ReadRemote() {
    Add("hostfile", HostFileOf(line_));
    for (const char* const flag : {"include", "exclude"}) {
      if (!Text(flag).empty()) Add(flag, Text(flag));
    }
    if (Given("ssh-port")) {
      Add("ssh-args", absl::StrCat("-p ", Text("ssh-port")));
    }
    AddSizes();
  }

  void AddSizes() {
    if (nodes_.has_value()) Add("nnodes", std::to_string(*nodes_));
    if (gpus_.has_value()) Add("nproc-per-node", std::to_string(*gpus_));
    if (Given("master-addr")) Add("master-addr", Text("master-addr"));
    AddMasterPort();
  }

  void AddMasterPort() {
    if (Given("master-port")) Add("master-port", Text("master-port"));
  }

  // Sets the number of workers on this node and the GPUs that they see,
  // numbered as in DeepSpeed.
  void TakeSlots(const Host& host) {
    std::vector<int> slots = host.chosen_slots;
    const std::optional<int> count = gpus_.has_value() ? gpus_ : host.slots;
    if (slots.empty() || gpus_.has_value()) {
      if (!count.has_value()) {
        Add("nproc-per-node", "gpu");
        return;
      }
      slots.clear();
      for (int slot = 0; slot < *count; ++slot) slots.push_back(slot);
    }
    Add("nproc-per-node", std::to_string(slots.size()));
    own_.variables[kVisible] = absl::StrJoin(slots, ",");
  }

  void ReadWorkers() {
    Add("framework-env", "deepspeed");
    own_.args.emplace_back(Given("no-python") ? "--no-python" : "--python");
    if (Given("module")) own_.args.emplace_back("--module");
    if (!Given("no-local-rank")) Add("local-rank-flag", "local_rank");
    if (Given("bind-cores-to-rank")) Add("numa-binding", "exclusive");
    const std::string logs = Text("enable-each-rank-log");
    if (!logs.empty() && logs != "None") {
      Add("log-dir", logs);
      Add("redirects", "3");
    }
    const std::string level = Text("log-level");
    if (Given("quiet") || level == "error" || level == "critical") {
      own_.args.emplace_back("--quiet");
    }
  }

  const CommandLine& line_;
  const std::optional<std::vector<Host>>& hosts_;
  std::optional<int> nodes_;
  std::optional<int> gpus_;
  OwnLine own_;
};

}  // namespace

std::string HostFileOf(const CommandLine& line) {
  const auto given = line.values.find("hostfile");
  return given == line.values.end() ? kDeepSpeedHostFile : given->second.back();
}

absl::StatusOr<OwnLine> OwnLineOfDeepSpeed(
    const CommandLine& line, const std::optional<std::vector<Host>>& hosts) {
  return Translator(line, hosts).Translate();
}

}  // namespace muster::launcher
