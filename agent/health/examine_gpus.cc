#include "agent/health/examine_gpus.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "agent/health/wording.h"

namespace muster::agent {
namespace {

// More memory in use than this belongs to a process; less is the driver's own.
constexpr int64_t kDriversOwn = int64_t{2} << 30;

// The GPUs for which `holds` is true.
std::vector<int> Those(const GpuFacts& gpus,
                       const std::function<bool(const GpuDevice&)>& holds) {
  std::vector<int> indices;
  for (const GpuDevice& gpu : gpus.devices) {
    if (gpu.error.empty() && holds(gpu)) indices.push_back(gpu.index);
  }
  return indices;
}

// Adds one finding for all GPUs in `which`.
void Report(const char* id, const std::vector<int>& which,
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
      Report("gpu-ecc", {gpu.index},
             absl::StrCat(*gpu.uncorrectable_errors,
                          " memory errors that could not be corrected"),
             findings);
    }
  }
  Report("gpu-remap-failed",
         Those(gpus,
               [](const GpuDevice& gpu) {
                 return gpu.remapped_rows && gpu.remapped_rows->failed;
               }),
         "bad memory rows could not be replaced", findings);
  Report("gpu-reset-pending",
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
    Report("gpu-throttled", {gpu.index},
           absl::StrCat("held down by ", LimitsText(limits),
                        gpu.temperature
                            ? absl::StrCat(" at ", *gpu.temperature, " C")
                            : ""),
           findings);
  }
  Report("gpu-prohibited",
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
    Report("gpu-mig-mixed", divided,
           absl::StrCat("divided (MIG), and ", GpusText(whole), " not"),
           findings);
  }
  Report("gpu-mig-mixed",
         Those(gpus,
               [](const GpuDevice& gpu) {
                 return gpu.mig == true && gpu.mig_instances == 0;
               }),
         "in MIG mode without an instance", findings);
  Report("gpu-mig-pending",
         Those(gpus,
               [](const GpuDevice& gpu) {
                 return gpu.mig && gpu.mig_pending &&
                        *gpu.mig != *gpu.mig_pending;
               }),
         "MIG mode changes with the next reset", findings);
  Report(
      "gpu-persistence-off",
      Those(gpus, [](const GpuDevice& gpu) { return gpu.persistent == false; }),
      "persistence mode is off", findings);
}

// Xids that NVIDIA's catalogue lists as caused by programs.
const std::set<int>& ApplicationXids() {
  static const auto& xids = *new std::set<int>{13, 31, 43, 45, 68};
  return xids;
}

void ExamineXids(const GpuFacts& gpus, const GpuSurroundings& surroundings,
                 std::vector<Finding>& findings) {
  if (surroundings.kernel_log_read == false) {
    findings.push_back(
        Found("gpu-log-unread", "the kernel's log cannot be read"));
  }
  // for each GPU, the number of occurrences of each Xid
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
      (ApplicationXids().count(xid) > 0 ? ours : theirs).push_back(text);
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
      // Reported by ExamineVersions.
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
  // A failing or missing driver has its own finding.
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

}  // namespace muster::agent
