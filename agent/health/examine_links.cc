#include <algorithm>

#include "absl/strings/str_cat.h"
#include "agent/health/examine_gpus.h"
#include "agent/health/wording.h"

namespace muster::agent {
namespace {

// The text of an nvmlGpuP2PStatus_t.
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
  // This matters with one GPU as well: the other device may be a network card.
  if (!redirected.empty()) {
    findings.push_back(
        Found("pcie-acs", absl::StrCat(GpusText(redirected),
                                       ": bridges above send traffic between "
                                       "devices through the root complex")));
  }
  return findings;
}

}  // namespace muster::agent
