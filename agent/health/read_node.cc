#include "agent/health/read_node.h"

#include "agent/gpus/read_gpu_facts.h"
#include "agent/health/read_surroundings.h"
#include "agent/health/within.h"
#include "rendezvous/version.h"

namespace muster::agent {

GpuFacts ReadGpusBy(Instant deadline, const std::string& nvml_library) {
  std::optional<GpuFacts> facts = Within<GpuFacts>(
      deadline, [nvml_library] { return ReadGpuFacts(nvml_library); });
  if (facts) return *std::move(facts);
  GpuFacts hung;
  hung.state = GpuFacts::State::kHung;
  return hung;
}

NodeFacts ReadNode(const NodePaths& paths) {
  const auto soon = [&paths] { return MonotonicNow() + paths.timeout; };
  NodeFacts facts;
  facts.version = rendezvous::kVersion;
  facts.environment = paths.environment;
  facts.gpus =
      ReadGpusBy(MonotonicNow() + paths.gpu_timeout, paths.nvml_library);
  std::vector<std::string> addresses;
  for (const GpuDevice& gpu : facts.gpus.devices) {
    addresses.push_back(gpu.pci_address);
  }
  facts.surroundings = ReadSurroundings(paths.root, addresses);
  // If the driver hangs, the versions of its libraries are not read, because
  // loading them may hang as well.
  if (facts.gpus.state != GpuFacts::State::kHung) {
    facts.libraries =
        Within<LibraryFacts>(soon(), [libraries = paths.libraries,
                                      environment = paths.environment] {
          return ReadLibraries(libraries, environment);
        }).value_or(LibraryFacts());
  }
  facts.host = ReadHost(paths.root);
  facts.host.shm = ReadFolder("shared memory", paths.root + "/dev/shm", soon());
  for (const auto& [purpose, path] : paths.folders) {
    facts.folders.push_back(ReadFolder(purpose, path, soon()));
  }
  facts.network = ReadNetwork(paths.root, paths.ports, soon());
  return facts;
}

}  // namespace muster::agent
