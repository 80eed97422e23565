#include "agent/health/read_node.h"

#include "agent/gpus/read_gpu_facts.h"
#include "agent/health/read_host.h"
#include "agent/health/read_network.h"
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

NodeFacts ReadNode(const NodePlaces& places) {
  const auto soon = [&places] { return MonotonicNow() + places.patience; };
  NodeFacts facts;
  facts.version = rendezvous::kVersion;
  facts.environment = places.environment;
  facts.gpus =
      ReadGpusBy(MonotonicNow() + places.gpu_patience, places.nvml_library);
  std::vector<std::string> addresses;
  for (const GpuDevice& gpu : facts.gpus.devices) {
    addresses.push_back(gpu.pci_address);
  }
  facts.surroundings = ReadSurroundings(places.root, addresses);
  // If the driver hangs, its libraries are not read, because they may hang as
  // well.
  if (facts.gpus.state != GpuFacts::State::kHung) {
    facts.libraries =
        Within<LibraryFacts>(soon(), [libraries = places.libraries,
                                      environment = places.environment] {
          return ReadLibraries(libraries, environment);
        }).value_or(LibraryFacts());
  }
  facts.host = ReadHost(places.root);
  facts.host.shm =
      ReadFolder("shared memory", places.root + "/dev/shm", soon());
  for (const auto& [purpose, path] : places.folders) {
    facts.folders.push_back(ReadFolder(purpose, path, soon()));
  }
  facts.network = ReadNetwork(places.root, places.ports, soon());
  return facts;
}

}  // namespace muster::agent
