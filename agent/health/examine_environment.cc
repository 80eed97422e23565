// Findings about the environment variables of CUDA, NCCL and Gloo.

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "agent/health/examine_node.h"
#include "agent/health/nccl_variables.h"
#include "agent/health/small_file.h"
#include "agent/health/wording.h"
#include "base/environment_value.h"

namespace muster::agent {
namespace {

std::string Text(const NodeFacts& facts, const char* name) {
  return EnvironmentValue(facts.environment, name).value_or("");
}

bool IsOne(const NodeFacts& facts, const char* name) {
  return Text(facts, name) == "1";
}

// The names of the network interfaces that are up and have an address, so that
// a socket can be bound to them.
std::vector<std::string> Usable(const NetworkFacts& network) {
  std::vector<std::string> names;
  for (const Interface& interface : network.interfaces) {
    if (interface.up && !interface.addresses.empty()) {
      names.push_back(interface.name);
    }
  }
  return names;
}

bool AllLoopback(const NetworkFacts& network,
                 const std::vector<std::string>& names) {
  for (const Interface& interface : network.interfaces) {
    if (std::count(names.begin(), names.end(), interface.name) > 0 &&
        !interface.loopback) {
      return false;
    }
  }
  return !names.empty();
}

void ExamineLoopback(const NodeFacts& facts, const std::string& setting,
                     const std::vector<std::string>& chosen,
                     std::vector<Finding>& findings) {
  const auto usable = Usable(facts.network);
  // Reports a variable of NCCL or Gloo (`setting`) that selects only loopback
  // interfaces (`chosen`) although the node has other usable interfaces.
  if (AllLoopback(facts.network, chosen) &&
      !AllLoopback(facts.network, usable)) {
    findings.push_back(
        Found("nccl-interface-loopback",
              absl::StrCat(setting, " leaves only ", Listed(chosen))));
  }
}

void ExamineInterfaces(const NodeFacts& facts, std::vector<Finding>& findings) {
  const std::vector<std::string> usable = Usable(facts.network);
  const std::string nccl = Text(facts, "NCCL_SOCKET_IFNAME");
  if (!nccl.empty()) {
    const std::string setting = absl::StrCat("NCCL_SOCKET_IFNAME=", nccl);
    const auto chosen = Chosen(ParseInterfaceList(nccl), usable);
    if (chosen.empty()) {
      findings.push_back(Found(
          "nccl-interface-missing",
          absl::StrCat(setting, " fits none of the interfaces that are up: ",
                       Listed(usable))));
    }
    ExamineLoopback(facts, setting, chosen, findings);
  }
  const std::string gloo = Text(facts, "GLOO_SOCKET_IFNAME");
  if (gloo.empty()) return;
  const std::string setting = absl::StrCat("GLOO_SOCKET_IFNAME=", gloo);
  const std::vector<std::string> wanted =
      absl::StrSplit(gloo, ',', absl::SkipEmpty());
  std::vector<std::string> missing;
  for (const std::string& name : wanted) {
    if (std::count(usable.begin(), usable.end(), name) == 0) {
      missing.push_back(name);
    }
  }
  if (!missing.empty()) {
    findings.push_back(Found(
        "gloo-interface-missing",
        absl::StrCat(
            setting, ": ", Listed(missing),
            " is not among the interfaces that are up: ", Listed(usable))));
  } else {
    ExamineLoopback(facts, setting, wanted, findings);
  }
}

void ExamineFabric(const NodeFacts& facts, std::vector<Finding>& findings) {
  std::vector<std::string> devices;
  for (const FabricPort& port : facts.network.fabric) {
    if (devices.empty() || devices.back() != port.device) {
      devices.push_back(port.device);
    }
  }
  if (IsOne(facts, "NCCL_IB_DISABLE") && !devices.empty()) {
    findings.push_back(
        Found("nccl-ib-disabled", absl::StrCat("NCCL_IB_DISABLE=1, and there "
                                               "are ",
                                               Listed(devices))));
  }
  const std::string hca = Text(facts, "NCCL_IB_HCA");
  if (hca.empty() || !Chosen(ParseInterfaceList(hca), devices).empty()) return;
  findings.push_back(Found(
      "nccl-hca-missing",
      absl::StrCat("NCCL_IB_HCA=", hca,
                   devices.empty()
                       ? ", and this node has no InfiniBand or RoCE device"
                       : absl::StrCat(" fits none of ", Listed(devices)))));
}

void ExamineSwitches(const NodeFacts& facts, std::vector<Finding>& findings) {
  for (const char* name : {"NCCL_P2P_DISABLE", "NCCL_SHM_DISABLE"}) {
    if (!IsOne(facts, name)) continue;
    findings.push_back(
        Found("nccl-p2p-disabled", absl::StrCat(name, "=1 is set")));
  }
  const std::string debug = absl::AsciiStrToUpper(Text(facts, "NCCL_DEBUG"));
  if ((debug == "INFO" || debug == "TRACE") &&
      Text(facts, "NCCL_DEBUG_FILE").empty()) {
    findings.push_back(
        Found("nccl-debug", absl::StrCat("NCCL_DEBUG=", debug, " is set")));
  }
  for (const auto& [name, value] : facts.environment) {
    const std::string meant = MeantNcclVariable(name);
    if (meant.empty()) continue;
    findings.push_back(Found(
        "nccl-unknown",
        absl::StrCat(name, " is no variable of NCCL; is ", meant, " meant?")));
  }
}

}  // namespace

std::vector<Finding> ExamineEnvironment(const NodeFacts& facts) {
  std::vector<std::string> set;
  for (const auto& [name, value] : facts.environment) {
    if (name == "CUDA_VISIBLE_DEVICES" || name == "GLOO_SOCKET_IFNAME" ||
        absl::StartsWith(name, "NCCL_")) {
      set.push_back(absl::StrCat(name, "=", value));
    }
  }
  std::vector<Finding> findings = {Found(
      "environment", set.empty()
                         ? "CUDA, NCCL and Gloo are not steered by variables"
                         : Listed(set))};
  const std::vector<Finding> visible = ExamineVisibleGpus(
      EnvironmentValue(facts.environment, "CUDA_VISIBLE_DEVICES"), facts.gpus);
  findings.insert(findings.end(), visible.begin(), visible.end());
  ExamineInterfaces(facts, findings);
  ExamineFabric(facts, findings);
  ExamineSwitches(facts, findings);
  return findings;
}

namespace {

std::vector<std::string> Words(const std::string& visible) {
  std::vector<std::string> words;
  for (const auto word : absl::StrSplit(visible, ',')) {
    words.emplace_back(absl::StripAsciiWhitespace(word));
  }
  return words;
}

// The index of the GPU that `word` names by its index, its UUID or a prefix of
// the UUID; -1: no such GPU.
int IndexOf(const std::string& word, const GpuFacts& gpus) {
  if (absl::StartsWith(word, "GPU-")) {
    for (const GpuDevice& gpu : gpus.devices) {
      if (absl::StartsWith(gpu.uuid, word)) return gpu.index;
    }
    return -1;
  }
  const auto number = LeadingNumber(word);
  if (!number || *number < 0 ||
      *number >= static_cast<int64_t>(gpus.devices.size())) {
    return -1;
  }
  return static_cast<int>(*number);
}

bool NamesInstances(const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return absl::StartsWith(word, "MIG-");
  });
}

bool HidesAll(const std::vector<std::string>& words) {
  const std::string& first = words.front();
  return first.empty() || first == "-1" || first == "NoDevFiles" ||
         first == "none";
}

}  // namespace

std::vector<Finding> ExamineVisibleGpus(
    const std::optional<std::string>& visible, const GpuFacts& gpus) {
  if (!visible || gpus.devices.empty()) return {};
  const std::vector<std::string> words = Words(*visible);
  if (HidesAll(words)) {
    return {Found("cuda-visible-empty",
                  absl::StrCat("CUDA_VISIBLE_DEVICES=", *visible, " hides all ",
                               gpus.devices.size(), " GPUs"))};
  }
  // MIG instances are not checked here, because only NVML knows their ids.
  if (NamesInstances(words)) return {};
  std::vector<int> seen;
  std::vector<std::string> missing, twice;
  for (const std::string& word : words) {
    const int index = IndexOf(word, gpus);
    if (index < 0) {
      missing.push_back(word.empty() ? "an empty name" : word);
    } else if (std::count(seen.begin(), seen.end(), index) > 0) {
      twice.push_back(word);
    }
    seen.push_back(index);
  }
  std::vector<Finding> findings;
  if (!missing.empty()) {
    findings.push_back(
        Found("cuda-visible-missing",
              absl::StrCat("CUDA_VISIBLE_DEVICES=", *visible, " names ",
                           Listed(missing), "; there are ", gpus.devices.size(),
                           " GPUs")));
  }
  if (!twice.empty()) {
    findings.push_back(Found("cuda-visible-twice",
                             absl::StrCat("CUDA_VISIBLE_DEVICES=", *visible,
                                          " names ", Listed(twice), " twice")));
  }
  return findings;
}

int NamedGpus(const std::optional<std::string>& visible) {
  if (!visible) return 0;
  const std::vector<std::string> words = Words(*visible);
  return HidesAll(words) ? 0 : static_cast<int>(words.size());
}

GpuFacts OnlyVisible(const std::optional<std::string>& visible, GpuFacts gpus) {
  if (!visible) return gpus;
  const std::vector<std::string> words = Words(*visible);
  if (HidesAll(words) || NamesInstances(words)) return gpus;
  std::vector<int> kept;
  for (const std::string& word : words) kept.push_back(IndexOf(word, gpus));
  std::vector<GpuDevice> devices;
  for (GpuDevice& gpu : gpus.devices) {
    if (std::count(kept.begin(), kept.end(), gpu.index) > 0) {
      devices.push_back(std::move(gpu));
    }
  }
  gpus.devices = std::move(devices);
  return gpus;
}

}  // namespace muster::agent
