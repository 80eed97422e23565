#include "agent/binding/read_layout.h"

#include <fcntl.h>
#include <hwloc.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/owned_fd.h"

namespace muster::agent {
namespace {

// Sets an environment variable for the lifetime of this object.
class VariableMeanwhile {
 public:
  VariableMeanwhile(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    setenv(name, value, /*overwrite=*/1);
  }
  ~VariableMeanwhile() {
    if (before_) {
      setenv(name_, before_->c_str(), /*overwrite=*/1);
    } else {
      unsetenv(name_);
    }
  }
  VariableMeanwhile(const VariableMeanwhile&) = delete;
  VariableMeanwhile& operator=(const VariableMeanwhile&) = delete;

 private:
  const char* const name_;
  std::optional<std::string> before_;
};

struct Destroy {
  void operator()(hwloc_topology* topology) const {
    hwloc_topology_destroy(topology);
  }
};
using Topology = std::unique_ptr<hwloc_topology, Destroy>;

absl::Status Refused(const char* step) {
  return absl::UnavailableError(
      absl::StrCat("hwloc cannot read this machine's topology (", step,
                   "): ", std::strerror(errno)));
}

// The value of an environment variable; null if it is not set or empty.
const char* Given(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr || *value == 0 ? nullptr : value;
}

absl::Status NotTaken(const char* variable, const std::string& why) {
  return absl::InvalidArgumentError(
      absl::StrCat(variable, "=", std::getenv(variable), ": ", why));
}

// Makes hwloc describe another machine if HWLOC_FSROOT, HWLOC_SYNTHETIC or
// HWLOC_XMLFILE is set. If several are set, the first in this order applies, as
// in hwloc. Returns an error if the description cannot be read; hwloc itself
// would silently describe this machine.
absl::Status TakeOtherMachine(hwloc_topology* topology) {
  if (const char* root = Given("HWLOC_FSROOT")) {
    const OwnedFd folder(open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder.open()) return absl::OkStatus();
    return NotTaken("HWLOC_FSROOT", std::strerror(errno));
  }
  if (const char* synthetic = Given("HWLOC_SYNTHETIC")) {
    if (hwloc_topology_set_synthetic(topology, synthetic) == 0) {
      return absl::OkStatus();
    }
    return NotTaken("HWLOC_SYNTHETIC",
                    "hwloc cannot read that; write for example pack:2 [numa] "
                    "core:4 pu:2");
  }
  if (const char* path = Given("HWLOC_XMLFILE")) {
    const OwnedFd file(open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    if (!file.open()) return NotTaken("HWLOC_XMLFILE", std::strerror(errno));
    if (hwloc_topology_set_xml(topology, path) == 0) return absl::OkStatus();
    return NotTaken("HWLOC_XMLFILE",
                    "hwloc cannot read that; write one with lstopo FILE.xml");
  }
  return absl::OkStatus();
}

absl::StatusOr<Topology> Load() {
  const VariableMeanwhile no_plugins("HWLOC_PLUGINS_PATH", "/dev/null");
  hwloc_topology* made = nullptr;
  if (hwloc_topology_init(&made) != 0) return Refused("init");
  Topology topology(made);
  // With INCLUDE_DISALLOWED, hwloc also lists the CPUs that this process may
  // not use; AllowedCpus returns the permitted CPUs. With DONT_CHANGE_BINDING,
  // hwloc does not bind this thread to single cores to inspect them.
  hwloc_topology_set_flags(made, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED |
                                     HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING);
  hwloc_topology_set_components(made, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST,
                                "x86");
  hwloc_topology_set_io_types_filter(made, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  const absl::Status other = TakeOtherMachine(made);
  if (!other.ok()) return other;
  if (hwloc_topology_load(made) != 0) return Refused("load");
  return topology;
}

int Number(hwloc_obj_t object) { return static_cast<int>(object->os_index); }

LogicalCpu Describe(hwloc_obj_t pu) {
  LogicalCpu cpu;
  cpu.number = cpu.core = cpu.complex = Number(pu);
  bool has_cache = false;
  for (hwloc_obj_t at = pu; at != nullptr; at = at->parent) {
    const int first = hwloc_bitmap_first(at->cpuset);
    if (at->type == HWLOC_OBJ_CORE) cpu.core = first;
    if (at->type == HWLOC_OBJ_PACKAGE) cpu.socket = Number(at);
    if (hwloc_obj_type_is_dcache(at->type)) {
      // The loop goes from the CPU outwards and overwrites `complex` at each
      // data cache, so that the outermost cache remains.
      cpu.complex = first;
      has_cache = true;
    }
  }
  if (!has_cache) cpu.complex = cpu.core;
  return cpu;
}

std::vector<LogicalCpu> ReadCpus(hwloc_topology* topology) {
  std::map<int, LogicalCpu> cpus;
  hwloc_obj_t pu = nullptr;
  while ((pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, pu))) {
    cpus[Number(pu)] = Describe(pu);
  }
  // hwloc may report two NUMA nodes as local to one CPU: the CPU's own node,
  // and a node without CPUs (a GPU's memory or slower memory). The node without
  // CPUs has the higher number. The loop goes backwards, so that the CPU's own
  // node is stored last.
  std::vector<hwloc_obj_t> nodes;
  hwloc_obj_t node = nullptr;
  while (
      (node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node))) {
    nodes.push_back(node);
  }
  std::sort(nodes.begin(), nodes.end(), [](hwloc_obj_t a, hwloc_obj_t b) {
    return a->os_index > b->os_index;
  });
  for (const hwloc_obj_t one : nodes) {
    for (auto& [number, cpu] : cpus) {
      if (hwloc_bitmap_isset(one->cpuset, static_cast<unsigned>(number))) {
        cpu.numa_node = Number(one);
      }
    }
  }
  std::vector<LogicalCpu> list;
  for (const auto& [number, cpu] : cpus) list.push_back(cpu);
  return list;
}

std::string Address(const hwloc_obj_attr_u::hwloc_pcidev_attr_s& pci) {
  char text[32];
  std::snprintf(text, sizeof(text), "%04x:%02x:%02x.%x",
                static_cast<unsigned>(pci.domain), pci.bus, pci.dev, pci.func);
  return text;
}

PciDevice Describe(hwloc_topology* topology, hwloc_obj_t device) {
  PciDevice result;
  result.address = Address(device->attr->pcidev);
  hwloc_obj_t at = device->parent;
  for (; at != nullptr && at->type == HWLOC_OBJ_BRIDGE; at = at->parent) {
    const bool of_host =
        at->attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_HOST;
    result.bridges.push_back(of_host ? absl::StrCat("host ", at->logical_index)
                                     : Address(at->attr->bridge.upstream.pci));
  }
  std::reverse(result.bridges.begin(), result.bridges.end());
  const hwloc_obj_t near = hwloc_get_non_io_ancestor_obj(topology, device);
  if (near == nullptr || near->nodeset == nullptr) return result;
  for (int node = hwloc_bitmap_first(near->nodeset); node >= 0;
       node = hwloc_bitmap_next(near->nodeset, node)) {
    result.numa_nodes.push_back(node);
  }
  return result;
}

// Whether a device of this PCI class may be a GPU: displays, coprocessors and
// accelerators.
bool MayBeGpu(unsigned short class_id) {
  const int base = class_id >> 8;
  return base == 0x03 || base == 0x0b || base == 0x12;
}

void ReadDevices(hwloc_topology* topology, MachineLayout* layout) {
  hwloc_obj_t device = nullptr;
  while ((device = hwloc_get_next_pcidev(topology, device))) {
    const PciDevice described = Describe(topology, device);
    if (MayBeGpu(device->attr->pcidev.class_id)) {
      layout->devices.push_back(described);
    }
    for (hwloc_obj_t child = device->io_first_child; child != nullptr;
         child = child->next_sibling) {
      if (child->type != HWLOC_OBJ_OS_DEVICE || child->name == nullptr) {
        continue;
      }
      if (child->attr->osdev.type == HWLOC_OBJ_OSDEV_NETWORK) {
        layout->nics.push_back({child->name, NicKind::kEthernet, described});
      } else if (child->attr->osdev.type == HWLOC_OBJ_OSDEV_OPENFABRICS) {
        layout->nics.push_back({child->name, NicKind::kInfiniBand, described});
      }
    }
  }
}

}  // namespace

absl::StatusOr<MachineLayout> ReadLayout() {
  const absl::StatusOr<Topology> topology = Load();
  if (!topology.ok()) return topology.status();
  MachineLayout layout;
  layout.cpus = ReadCpus(topology->get());
  ReadDevices(topology->get(), &layout);
  return layout;
}

}  // namespace muster::agent
