#include "launcher/config/accelerate_config.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/nearest_name.h"
#include "launcher/config/accelerate_variables.h"

namespace muster::launcher {
namespace {

// The keys of Accelerate's ClusterConfig (1.15) and the old keys that
// Accelerate converts.
const std::vector<std::string>& KnownKeys() {
  static const auto& keys =
      *new std::vector<std::string>{"compute_environment",
                                    "distributed_type",
                                    "mixed_precision",
                                    "use_cpu",
                                    "debug",
                                    "num_processes",
                                    "machine_rank",
                                    "num_machines",
                                    "gpu_ids",
                                    "main_process_ip",
                                    "main_process_port",
                                    "rdzv_backend",
                                    "same_network",
                                    "main_training_function",
                                    "enable_cpu_affinity",
                                    "fp8_config",
                                    "deepspeed_config",
                                    "fsdp_config",
                                    "parallelism_config",
                                    "megatron_lm_config",
                                    "mpirun_config",
                                    "downcast_bf16",
                                    "tpu_name",
                                    "tpu_zone",
                                    "tpu_use_cluster",
                                    "tpu_use_sudo",
                                    "command_file",
                                    "commands",
                                    "tpu_vm",
                                    "tpu_env",
                                    "dynamo_config",
                                    "fp16",
                                    "dynamo_backend"};
  return keys;
}

// Returns why a key never has an effect in Muster; null if it may have an
// effect.
const char* WhyIgnored(const std::string& key) {
  if (key == "main_training_function") {
    return "the program is run, as accelerate launch does but on TPUs";
  }
  if (key == "downcast_bf16" || key.rfind("tpu_", 0) == 0 ||
      key == "command_file" || key == "commands") {
    return "only TPUs are launched by it";
  }
  if (key == "enable_cpu_affinity") {
    return "accelerate launch heeds it on its command line only; see "
           "--numa-binding";
  }
  if (key == "mpirun_config") {
    return "launch starts the processes itself, without mpirun";
  }
  return nullptr;
}

class Reader {
 public:
  Reader(const YamlValue& document, const ConfigSurroundings& surroundings)
      : document_(document), surroundings_(surroundings) {
    meaning_.format = ConfigFormat::kAccelerate;
  }

  absl::StatusOr<ConfigMeaning> Read() {
    absl::Status read = CheckKeys();
    if (read.ok()) read = ReadKind();
    if (read.ok()) read = ReadNumbers();
    if (!read.ok()) return read;
    ReadMeeting();
    if (kind_ == AccelerateKind::kDeepSpeed && machines_ > 1) ReadHosts();
    meaning_.defaults.worker_environment =
        AccelerateVariables(document_, kind_, surroundings_, meaning_.ignored);
    return std::move(meaning_);
  }

 private:
  absl::Status Refuse(int line, const std::string& why) const {
    return absl::InvalidArgumentError(
        absl::StrCat(surroundings_.file_name, ":", line, ": ", why));
  }

  // Returns the key's text; nullopt if the key is absent or null.
  std::optional<std::string> Text(const std::string& key) const {
    const YamlValue* const value = document_.Find(key);
    if (value == nullptr || value->kind != YamlValue::Kind::kScalar) {
      return std::nullopt;
    }
    return value->text;
  }

  int LineOf(const std::string& key) const {
    const YamlValue* const value = document_.Find(key);
    return value == nullptr ? document_.line : value->line;
  }

  void SetFlag(const std::string& flag, const std::string& key,
               const std::string& text) {
    meaning_.defaults.flags[flag] = {
        Text(key).has_value() ? OriginOf(surroundings_, LineOf(key), key)
                              : absl::StrCat(surroundings_.file_name,
                                             ": Accelerate's default ", key),
        text};
  }

  absl::Status CheckKeys() {
    for (const YamlEntry& entry : document_.entries) {
      const auto& known = KnownKeys();
      if (std::find(known.begin(), known.end(), entry.key) == known.end()) {
        const std::string nearest = NearestName(entry.key, known);
        return Refuse(
            entry.line,
            absl::StrCat(entry.key, ": Accelerate has no such key",
                         nearest.empty()
                             ? ""
                             : absl::StrCat("; did you mean ", nearest, "?")));
      }
      const bool is_section =
          entry.key.size() > 7 && entry.key.ends_with("_config");
      const bool empty = entry.value.kind == YamlValue::Kind::kNull;
      const bool is_list = entry.value.kind == YamlValue::Kind::kList;
      const bool is_map = entry.value.kind == YamlValue::Kind::kMap;
      if (const char* const why = WhyIgnored(entry.key); why != nullptr) {
        if (!empty) meaning_.ignored.push_back({entry.key, entry.line, why});
      } else if (!empty && (is_list || is_map != is_section)) {
        return Refuse(
            entry.line,
            absl::StrCat(entry.key, ": ",
                         is_section ? "is no section of keys" : "is no text"));
      }
    }
    return absl::OkStatus();
  }

  absl::Status ReadKind() {
    const std::string where =
        Text("compute_environment").value_or("LOCAL_MACHINE");
    if (where != "LOCAL_MACHINE") {
      return Refuse(LineOf("compute_environment"),
                    absl::StrCat("compute_environment=", where,
                                 ": only LOCAL_MACHINE can be launched here"));
    }
    const std::optional<std::string> type = Text("distributed_type");
    if (!type.has_value()) {
      return Refuse(document_.line, "distributed_type: is missing");
    }
    if (*type == "NO" || *type == "MULTI_CPU" || *type == "no" ||
        *type == "No") {
      kind_ = AccelerateKind::kSimple;
      is_multi_cpu_ = *type == "MULTI_CPU";
      alone_ = !is_multi_cpu_;
    } else if (*type == "MULTI_GPU") {
      kind_ = AccelerateKind::kMultiGpu;
    } else if (*type == "FSDP") {
      kind_ = AccelerateKind::kFsdp;
    } else if (*type == "DEEPSPEED") {
      kind_ = AccelerateKind::kDeepSpeed;
    } else {
      return Refuse(
          LineOf("distributed_type"),
          absl::StrCat("distributed_type=", *type,
                       ": is not launched here; MULTI_GPU, MULTI_CPU, FSDP, "
                       "DEEPSPEED and NO are"));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<int> Number(const std::string& key, int fallback) const {
    const std::optional<std::string> text = Text(key);
    if (!text.has_value()) return fallback;
    int number = 0;
    if (!absl::SimpleAtoi(*text, &number) || number < -1 ||
        number > 1'000'000) {
      return Refuse(LineOf(key), absl::StrCat(key, "=", *text,
                                              ": is no number of this kind"));
    }
    return number;
  }

  absl::Status ReadNumbers() {
    const absl::StatusOr<int> machines = Number("num_machines", 1);
    if (!machines.ok()) return machines.status();
    if (*machines < 1) {
      return Refuse(LineOf("num_machines"), "num_machines: is below 1");
    }
    machines_ = *machines;
    const absl::StatusOr<int> total = Number("num_processes", alone_ ? 1 : -1);
    if (!total.ok()) return total.status();
    // Sets --nnodes only if the file has num_machines; otherwise the cluster
    // may give the number of nodes.
    if (Text("num_machines").has_value()) {
      SetFlag("nnodes", "num_machines", std::to_string(machines_));
    }
    if (*total < 1) {
      meaning_.ignored.push_back(
          {"num_processes", LineOf("num_processes"),
           "says nothing; give --nproc-per-node, or let the cluster say it"});
    } else {
      const int each = std::max(1, *total / machines_);
      SetFlag("nproc-per-node", "num_processes",
              alone_ ? "1" : std::to_string(each));
      if (alone_ && *total > 1) {
        meaning_.defaults.remarks.push_back(absl::StrCat(
            OriginOf(surroundings_, LineOf("num_processes"), "num_processes"),
            "=", *total,
            " has no effect: distributed_type NO is one process, as with "
            "accelerate launch"));
      }
      if (is_multi_cpu_ && *total > 1 && !HasMpirunHosts()) {
        meaning_.defaults.remarks.push_back(absl::StrCat(
            OriginOf(surroundings_, LineOf("num_processes"), "num_processes"),
            "=", *total, ": ", each, each == 1 ? " worker is" : " workers are",
            " started on each machine; accelerate launch starts one process "
            "for distributed_type MULTI_CPU, unless mpirun_config names a "
            "host file"));
      }
      if (!alone_ && each * machines_ != *total) {
        meaning_.defaults.remarks.push_back(absl::StrCat(
            OriginOf(surroundings_, LineOf("num_processes"), "num_processes"),
            "=", *total, " is no multiple of num_machines: ", each,
            " on each are started, as accelerate launch does"));
      }
    }
    if (machines_ > 1 && Text("machine_rank").has_value()) {
      const absl::StatusOr<int> rank = Number("machine_rank", 0);
      if (!rank.ok()) return rank.status();
      SetFlag("node-rank", "machine_rank", std::to_string(*rank));
    }
    return absl::OkStatus();
  }

  // Whether Accelerate would start the processes of a MULTI_CPU configuration
  // through mpirun.
  bool HasMpirunHosts() const {
    const YamlValue* const section = document_.Find("mpirun_config");
    if (section == nullptr) return false;
    const YamlValue* const hosts = section->Find("mpirun_hostfile");
    return hosts != nullptr && hosts->kind == YamlValue::Kind::kScalar &&
           !hosts->text.empty();
  }

  void Ignore(const std::string& key, const std::string& why) {
    if (Text(key).has_value()) {
      meaning_.ignored.push_back({key, LineOf(key), why});
    }
  }

  void ReadMeeting() {
    const std::string address = Text("main_process_ip").value_or("");
    std::string port = Text("main_process_port").value_or("");
    if (port == "0") {
      port.clear();
      Ignore("main_process_port",
             "0 asks for a free port, which is the default");
    }
    if (machines_ == 1) {
      if (!port.empty()) SetFlag("master-port", "main_process_port", port);
      Ignore("main_process_ip", "a single machine has no peers");
      return;
    }
    const std::string backend = Text("rdzv_backend").value_or("static");
    SetFlag("rdzv-backend", "rdzv_backend", backend);
    if (address.empty()) {
      if (!port.empty()) {
        Ignore("main_process_port",
               "without main_process_ip it has no host; see --rdzv-endpoint");
      }
      return;
    }
    const YamlValue* const same = document_.Find("same_network");
    if (port.empty()) port = "29500";
    if (backend == "static" && same != nullptr &&
        ReadYamlTruth(*same).value_or(false)) {
      SetFlag("master-addr", "main_process_ip", address);
      SetFlag("master-port", "main_process_port", port);
      return;
    }
    const bool six = std::count(address.begin(), address.end(), ':') > 1 &&
                     address[0] != '[';
    SetFlag("rdzv-endpoint", "main_process_ip",
            absl::StrCat(six ? "[" : "", address, six ? "]:" : ":", port));
  }

  // Reads the hosts of the job, if one of DeepSpeed's own launchers would start
  // the other nodes. With the launchers "standard" (like torchrun) and "nossh",
  // a user starts each node.
  void ReadHosts() {
    const YamlValue* const section = document_.Find("deepspeed_config");
    if (section == nullptr) return;
    const auto text = [section](const std::string& key) -> std::string {
      const YamlValue* const value = section->Find(key);
      return value != nullptr && value->kind == YamlValue::Kind::kScalar
                 ? value->text
                 : "";
    };
    const std::string launcher = text("deepspeed_multinode_launcher");
    if (launcher == "standard" || launcher == "nossh") return;
    for (const auto& [key, flag] :
         {std::pair("deepspeed_hostfile", "hostfile"),
          std::pair("deepspeed_inclusion_filter", "include"),
          std::pair("deepspeed_exclusion_filter", "exclude")}) {
      if (text(key).empty()) continue;
      meaning_.defaults.flags[flag] = {
          OriginOf(surroundings_, section->Find(key)->line, key), text(key)};
    }
    if (meaning_.defaults.flags.count("hostfile") > 0) {
      // The order of the host file determines each node's rank, so the rank in
      // the configuration file is dropped.
      meaning_.defaults.flags.erase("node-rank");
    }
    if (!launcher.empty() && launcher != "pdsh") {
      meaning_.ignored.push_back(
          {"deepspeed_config.deepspeed_multinode_launcher",
           section->Find("deepspeed_multinode_launcher")->line,
           "nodes are started over ssh, by --slurm or by your own scheduler"});
    }
  }

  const YamlValue& document_;
  const ConfigSurroundings& surroundings_;
  ConfigMeaning meaning_;
  AccelerateKind kind_ = AccelerateKind::kSimple;
  bool is_multi_cpu_ = false;
  // whether each machine has one process, whatever num_processes says
  bool alone_ = false;
  int machines_ = 1;
};

}  // namespace

absl::StatusOr<ConfigMeaning> ReadAccelerateConfig(
    const YamlValue& document, const ConfigSurroundings& surroundings) {
  return Reader(document, surroundings).Read();
}

}  // namespace muster::launcher
