// Findings about a node's GPUs, their links, and the versions of driver and
// libraries.

#include <algorithm>
#include <functional>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "agent/gpus/xid.h"
#include "agent/health/examine_node.h"
#include "agent/health/wording.h"

namespace muster::agent {
namespace {

// The bytes of a GPU's memory that the driver itself may use. If more bytes are
// in use, a process is assumed to use the GPU.
constexpr int64_t kDriversOwn = int64_t{2} << 30;

// The indices of those GPUs that NVML could read and for which `holds` returns
// true.
std::vector<int> Those(const GpuFacts& gpus,
                       const std::function<bool(const GpuDevice&)>& holds) {
  std::vector<int> indices;
  for (const GpuDevice& gpu : gpus.devices) {
    if (gpu.error.empty() && holds(gpu)) indices.push_back(gpu.index);
  }
  return indices;
}

// Adds one finding about the GPUs whose indices are in `which`; adds nothing if
// `which` is empty.
void AddFinding(const char* id, const std::vector<int>& which,
                const std::string& what, std::vector<Finding>& findings) {
  if (which.empty()) return;
  findings.push_back(Found(id, absl::StrCat(GpusText(which), ": ", what)));
}

std::string Kind(const GpuDevice& gpu) {
  const std::string memory =
      gpu.memory_total ? absl::StrCat(" ", SizeText(*gpu.memory_total)) : "";
  return absl::StrCat(gpu.name, memory);
}

void ExamineKinds(const GpuFacts& gpus, std::vector<Finding>& findings) {
  std::map<std::string, int> kinds;
  for (const GpuDevice& gpu : gpus.devices) {
    if (gpu.error.empty()) ++kinds[Kind(gpu)];
  }
  std::vector<std::string> texts;
  for (const auto& [kind, count] : kinds) {
    texts.push_back(absl::StrCat(count, " x ", kind));
  }
  if (!texts.empty()) findings.push_back(Found("gpus", Listed(texts)));
  if (kinds.size() > 1) {
    findings.push_back(Found("gpu-models-mixed", Listed(texts)));
  }
}

void ExamineUse(const GpuFacts& gpus, std::vector<Finding>& findings) {
  for (const GpuDevice& gpu : gpus.devices) {
    const bool held = gpu.memory_used && *gpu.memory_used > kDriversOwn;
    if (gpu.processes.empty() && !held) continue;
    std::vector<std::string> pids;
    for (const GpuProcess& process : gpu.processes) {
      pids.push_back(absl::StrCat(process.pid));
    }
    findings.push_back(Found(
        "gpu-in-use",
        absl::StrCat(
            "GPU ", gpu.index, ": ",
            gpu.memory_used ? absl::StrCat(SizeText(*gpu.memory_used), " ")
                            : "memory ",
            "in use, ",
            pids.empty()
                ? "by processes that cannot be seen from here"
                : absl::StrCat(pids.size() == 1 ? "by pid " : "by pids ",
                               Listed(pids)))));
  }
}

void ExamineMemory(const GpuFacts& gpus, std::vector<Finding>& findings) {
  for (const GpuDevice& gpu : gpus.devices) {
    if (gpu.uncorrectable_errors.value_or(0) > 0) {
      AddFinding("gpu-ecc", {gpu.index},
                 absl::StrCat(*gpu.uncorrectable_errors,
                              " memory errors that could not be corrected"),
                 findings);
    }
  }
  AddFinding("gpu-remap-failed",
             Those(gpus,
                   [](const GpuDevice& gpu) {
                     return gpu.remapped_rows && gpu.remapped_rows->failed;
                   }),
             "bad memory rows could not be replaced", findings);
  AddFinding("gpu-reset-pending",
             Those(gpus,
                   [](const GpuDevice& gpu) {
                     return gpu.retirement_pending.value_or(false) ||
                            (gpu.remapped_rows && gpu.remapped_rows->pending);
                   }),
             "bad memory goes out of use with the next reset", findings);
}

std::string LimitsText(uint64_t limits) {
  std::vector<std::string> reasons;
  if ((limits & ClockLimit::kHardwareThermal) != 0 ||
      (limits & ClockLimit::kSoftwareThermal) != 0) {
    reasons.push_back("heat");
  }
  if ((limits & ClockLimit::kPowerBrake) != 0) {
    reasons.push_back("the power supply's brake");
  }
  if ((limits & ClockLimit::kHardwareSlowdown) != 0) {
    reasons.push_back("the board's slowdown");
  }
  return Listed(reasons);
}

void ExamineModes(const GpuFacts& gpus, std::vector<Finding>& findings) {
  constexpr uint64_t kBad =
      ClockLimit::kHardwareSlowdown | ClockLimit::kSoftwareThermal |
      ClockLimit::kHardwareThermal | ClockLimit::kPowerBrake;
  for (const GpuDevice& gpu : gpus.devices) {
    const uint64_t limits = gpu.clock_limits.value_or(0) & kBad;
    if (limits == 0) continue;
    AddFinding("gpu-throttled", {gpu.index},
               absl::StrCat("held down by ", LimitsText(limits),
                            gpu.temperature
                                ? absl::StrCat(" at ", *gpu.temperature, " C")
                                : ""),
               findings);
  }
  AddFinding("gpu-prohibited",
             Those(gpus,
                   [](const GpuDevice& gpu) {
                     return gpu.compute_mode == ComputeMode::kProhibited;
                   }),
             "the compute mode is Prohibited", findings);
  const auto divided =
      Those(gpus, [](const GpuDevice& gpu) { return gpu.mig == true; });
  const auto whole =
      Those(gpus, [](const GpuDevice& gpu) { return gpu.mig != true; });
  if (!divided.empty() && !whole.empty()) {
    AddFinding("gpu-mig-mixed", divided,
               absl::StrCat("divided (MIG), and ", GpusText(whole), " not"),
               findings);
  }
  AddFinding("gpu-mig-mixed",
             Those(gpus,
                   [](const GpuDevice& gpu) {
                     return gpu.mig == true && gpu.mig_instances == 0;
                   }),
             "in MIG mode without an instance", findings);
  AddFinding("gpu-mig-pending",
             Those(gpus,
                   [](const GpuDevice& gpu) {
                     return gpu.mig && gpu.mig_pending &&
                            *gpu.mig != *gpu.mig_pending;
                   }),
             "MIG mode changes with the next reset", findings);
  AddFinding(
      "gpu-persistence-off",
      Those(gpus, [](const GpuDevice& gpu) { return gpu.persistent == false; }),
      "persistence mode is off", findings);
}

void ExamineXids(const GpuFacts& gpus, const GpuSurroundings& surroundings,
                 std::vector<Finding>& findings) {
  if (surroundings.kernel_log_read == false) {
    findings.push_back(
        Found("gpu-log-unread", "the kernel's log cannot be read"));
  }
  // for each GPU (PCI address), the number of occurrences of each Xid
  std::map<std::string, std::map<int, int>> by_gpu;
  for (const XidEvent& event : surroundings.xids) {
    if (event.ago > std::chrono::hours(24)) continue;
    ++by_gpu[event.pci_address][event.xid];
  }
  for (const auto& [address, counts] : by_gpu) {
    std::string gpu = absl::StrCat("GPU at ", address);
    for (const GpuDevice& device : gpus.devices) {
      if (absl::StartsWith(device.pci_address, address)) {
        gpu = absl::StrCat("GPU ", device.index);
      }
    }
    std::vector<std::string> theirs, ours;
    for (const auto& [xid, count] : counts) {
      const std::string text = absl::StrCat(
          "XID ", xid, count > 1 ? absl::StrCat(" (", count, " times)") : "");
      (KindOf(xid) == XidKind::kApplication ? ours : theirs).push_back(text);
    }
    if (!theirs.empty()) {
      findings.push_back(
          Found("gpu-xid", absl::StrCat(gpu, ": ", Listed(theirs))));
    }
    if (!ours.empty()) {
      findings.push_back(
          Found("gpu-xid-application", absl::StrCat(gpu, ": ", Listed(ours))));
    }
  }
}

}  // namespace

std::vector<Finding> ExamineGpus(const GpuFacts& gpus,
                                 const GpuSurroundings& surroundings) {
  std::vector<Finding> findings;
  constexpr int kVersionMismatch = 18;
  switch (gpus.state) {
    case GpuFacts::State::kNoDriver:
      if (surroundings.visible_devices > 0) {
        return {Found("gpu-no-library",
                      absl::StrCat(surroundings.visible_devices,
                                   " GPU devices in /dev, and "
                                   "libnvidia-ml.so.1 cannot be loaded"))};
      }
      return {Found("gpu-none", "no NVIDIA driver is loaded")};
    case GpuFacts::State::kHung:
      return {Found("gpu-driver-hung",
                    "NVIDIA's management library does not answer")};
    case GpuFacts::State::kFailed:
      // The error kVersionMismatch means that the versions of NVIDIA's driver
      // and library differ. ExamineVersions reports it, so nothing is reported
      // here.
      if (gpus.error_code == kVersionMismatch) return {};
      return {Found(
          "gpu-driver-failed",
          absl::StrCat("NVIDIA's management library says: ", gpus.error))};
    case GpuFacts::State::kRead:
      break;
  }
  if (gpus.devices.empty()) {
    return {
        Found("gpu-none-shown", "NVIDIA's driver is loaded and shows no GPU")};
  }
  ExamineKinds(gpus, findings);
  for (const GpuDevice& gpu : gpus.devices) {
    if (gpu.error.empty()) continue;
    findings.push_back(Found(
        "gpu-lost", absl::StrCat("GPU ", gpu.index,
                                 gpu.pci_address.empty()
                                     ? ""
                                     : absl::StrCat(" (", gpu.pci_address, ")"),
                                 ": ", gpu.error)));
  }
  ExamineMemory(gpus, findings);
  ExamineXids(gpus, surroundings, findings);
  ExamineModes(gpus, findings);
  ExamineUse(gpus, findings);
  return findings;
}

std::vector<Finding> ExamineGpuCount(int needed, const GpuFacts& gpus) {
  // Without a driver (`absent`) the node counts as having 0 GPUs. If a driver
  // fails, hangs or lists no GPU, another finding reports this, and this
  // function returns an empty list.
  const bool absent = gpus.state == GpuFacts::State::kNoDriver;
  const bool counted =
      gpus.state == GpuFacts::State::kRead && !gpus.devices.empty();
  if (!absent && !counted) return {};
  int there = 0;
  for (const GpuDevice& gpu : gpus.devices) {
    there += std::max(1, gpu.mig_instances);
  }
  if (there >= needed) return {};
  return {Found("gpu-too-few",
                absl::StrCat("the job needs ", needed,
                             needed == 1 ? " GPU" : " GPUs", " here, and ",
                             absent ? "no NVIDIA driver is loaded"
                                    : absl::StrCat("there are ", there)))};
}

namespace {

void Append(const std::string& what, const std::string& version,
            std::vector<std::string>& parts) {
  if (!version.empty()) parts.push_back(absl::StrCat(what, " ", version));
}

std::string Summary(const NodeFacts& facts) {
  const LibraryFacts& libraries = facts.libraries;
  std::vector<std::string> parts;
  Append("muster", facts.version, parts);
  Append("kernel", facts.host.kernel, parts);
  const std::string driver = facts.gpus.driver_version.empty()
                                 ? libraries.kernel_driver
                                 : facts.gpus.driver_version;
  if (!driver.empty()) {
    parts.push_back(absl::StrCat(
        "driver ", driver,
        facts.gpus.driver_cuda
            ? absl::StrCat(" (CUDA ", CudaText(*facts.gpus.driver_cuda), ")")
            : ""));
  }
  if (libraries.runtime_cuda) {
    Append("CUDA", CudaText(*libraries.runtime_cuda), parts);
  }
  Append("NCCL", libraries.toolkit_nccl, parts);
  if (!libraries.torch_version.empty()) {
    std::string built = libraries.torch_cuda.empty()
                            ? " (no CUDA)"
                            : absl::StrCat(" (CUDA ", libraries.torch_cuda);
    if (!libraries.torch_cuda.empty()) {
      absl::StrAppend(&built,
                      libraries.torch_nccl.empty()
                          ? ""
                          : absl::StrCat(", NCCL ", libraries.torch_nccl),
                      ")");
    }
    Append("PyTorch", absl::StrCat(libraries.torch_version, built), parts);
  }
  return Listed(parts, parts.size());
}

// Adds a finding if `whose` (such as "PyTorch") needs the CUDA version
// `wanted`, and the driver supports only the older version `known`. Versions
// are numbers: 12040 is CUDA 12.4. The id of the finding is `too_old` if
// `wanted` has a higher major version than `known`, else "cuda-minor".
void Compare(const std::string& whose, int wanted, int known,
             const char* too_old, std::vector<Finding>& findings) {
  if (wanted <= known) return;
  const char* id = wanted / 1000 > known / 1000 ? too_old : "cuda-minor";
  findings.push_back(Found(
      id,
      absl::StrCat(whose, " is for CUDA ", CudaText(wanted),
                   ", and the driver supports CUDA up to ", CudaText(known))));
}

}  // namespace

std::vector<Finding> ExamineVersions(const NodeFacts& facts) {
  const LibraryFacts& libraries = facts.libraries;
  std::vector<Finding> findings = {Found("versions", Summary(facts))};
  const GpuFacts& gpus = facts.gpus;
  // NVML_ERROR_LIB_RM_VERSION_MISMATCH of nvml.h
  constexpr int kVersionMismatch = 18;
  if (gpus.state == GpuFacts::State::kFailed &&
      gpus.error_code == kVersionMismatch) {
    findings.push_back(
        Found("nvml-mismatch",
              absl::StrCat("NVIDIA's library says: ", gpus.error,
                           libraries.kernel_driver.empty()
                               ? ""
                               : absl::StrCat("; the kernel's module is ",
                                              libraries.kernel_driver))));
  }
  if (gpus.driver_cuda) {
    if (libraries.runtime_cuda) {
      Compare("the toolkit's runtime (libcudart)", *libraries.runtime_cuda,
              *gpus.driver_cuda, "toolkit-too-new", findings);
    }
    const int torch = CudaNumber(libraries.torch_cuda);
    if (torch > 0) {
      Compare(absl::StrCat("PyTorch ", libraries.torch_version), torch,
              *gpus.driver_cuda, "driver-too-old", findings);
    }
  }
  if (!libraries.toolkit_nccl.empty() && !libraries.torch_nccl.empty() &&
      libraries.toolkit_nccl != libraries.torch_nccl) {
    findings.push_back(Found(
        "nccl-two", absl::StrCat("libnccl.so.2 is ", libraries.toolkit_nccl,
                                 ", PyTorch's is ", libraries.torch_nccl)));
  }
  if (!gpus.devices.empty() && libraries.toolkit_nccl.empty() &&
      libraries.torch_nccl.empty()) {
    findings.push_back(
        Found("nccl-missing", "no NCCL was found on a node with GPUs"));
  }
  return findings;
}

namespace {

// Why one GPU cannot read another GPU's memory, in words. `status`: an
// nvmlGpuP2PStatus_t other than "OK".
std::string PeerStatusText(int status) {
  switch (status) {
    case 1:
      return "the chipset does not support it";
    case 2:
      return "the GPUs do not support it";
    case 3:
      return "the bridges between them do not support it";
    case 4:
      return "a driver option switches it off";
    default:
      return "it is not supported";
  }
}

void ExaminePcie(const GpuFacts& gpus, std::vector<Finding>& findings) {
  for (const GpuDevice& gpu : gpus.devices) {
    if (!gpu.pcie) continue;
    const PcieLink& link = *gpu.pcie;
    if (link.width > 0 && link.width < link.max_width) {
      findings.push_back(Found(
          "pcie-narrow", absl::StrCat("GPU ", gpu.index, ": ", link.width,
                                      " of ", link.max_width, " PCIe lanes")));
    }
    const bool idle =
        (gpu.clock_limits.value_or(ClockLimit::kIdle) & ClockLimit::kIdle) != 0;
    if (!idle && link.generation > 0 && link.generation < link.max_generation) {
      findings.push_back(
          Found("pcie-slow",
                absl::StrCat("GPU ", gpu.index, ": PCIe generation ",
                             link.generation, " of ", link.max_generation)));
    }
  }
}

void ExaminePeers(const GpuFacts& gpus, std::vector<Finding>& findings) {
  std::vector<std::string> pairs;
  int status = 0;
  for (const GpuPair& pair : gpus.pairs) {
    if (pair.peer_status.value_or(0) == 0) continue;
    pairs.push_back(absl::StrCat(pair.a, "-", pair.b));
    status = *pair.peer_status;
  }
  if (pairs.empty()) return;
  findings.push_back(Found(
      "gpu-no-peers", absl::StrCat(pairs.size() == gpus.pairs.size()
                                       ? "no two GPUs"
                                       : absl::StrCat("GPUs ", Listed(pairs)),
                                   " can reach each other's memory: ",
                                   PeerStatusText(status))));
}

}  // namespace

std::vector<Finding> ExamineLinks(const GpuFacts& gpus,
                                  const GpuSurroundings& surroundings) {
  std::vector<Finding> findings;
  if (gpus.devices.empty()) return findings;
  size_t least = SIZE_MAX, most = 0;
  for (const GpuDevice& gpu : gpus.devices) {
    if (!gpu.error.empty()) continue;
    least = std::min(least, gpu.links_up.size());
    most = std::max(most, gpu.links_up.size());
    if (gpu.links_down.empty()) continue;
    std::vector<std::string> numbers;
    for (const int link : gpu.links_down) {
      numbers.push_back(absl::StrCat(link));
    }
    findings.push_back(
        Found("nvlink-down", absl::StrCat("GPU ", gpu.index, ": down of its ",
                                          gpu.links_up.size() + numbers.size(),
                                          " NVLinks: ", Listed(numbers))));
  }
  if (most > 0) {
    findings.insert(
        findings.begin(),
        Found("links",
              absl::StrCat(least == most ? absl::StrCat(most)
                                         : absl::StrCat(least, " to ", most),
                           " NVLinks on each GPU")));
  } else if (gpus.devices.size() > 1) {
    findings.insert(findings.begin(),
                    Found("links", "no NVLinks; GPUs talk over PCIe"));
  }
  ExaminePeers(gpus, findings);
  ExaminePcie(gpus, findings);
  std::vector<int> redirected;
  for (const GpuDevice& gpu : gpus.devices) {
    for (const PciPath& path : surroundings.paths) {
      if (path.pci_address == gpu.pci_address && !path.redirecting.empty()) {
        redirected.push_back(gpu.index);
      }
    }
  }
  // PCI bridges that send traffic between two devices through the root complex
  // are reported even if the node has only one GPU: the GPU may also exchange
  // data directly with a network card.
  if (!redirected.empty()) {
    findings.push_back(
        Found("pcie-acs", absl::StrCat(GpusText(redirected),
                                       ": bridges above send traffic between "
                                       "devices through the root complex")));
  }
  return findings;
}

}  // namespace muster::agent
