#include "agent/binding/worker_seats.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "agent/binding/cpu_list.h"

namespace muster::agent {
namespace {

std::vector<int> NodesOf(const std::vector<LogicalCpu>& cpus) {
  std::set<int> nodes;
  for (const LogicalCpu& cpu : cpus) nodes.insert(cpu.numa_node);
  return {nodes.begin(), nodes.end()};
}

std::string NodesText(const std::vector<int>& nodes) {
  return absl::StrCat(nodes.size() == 1 ? "NUMA node " : "NUMA nodes ",
                      CpuList(nodes));
}

// The index in a row of `size` for item `i` of `count`: items are distributed
// evenly, in order.
size_t Spread(size_t i, size_t count, size_t size) { return i * size / count; }

Seats SpreadWorkers(const std::vector<LogicalCpu>& allowed, size_t workers,
                    const std::string& why) {
  // pairs of node and core, each core once
  std::vector<std::pair<int, int>> cores;
  for (const LogicalCpu& cpu : allowed) {
    cores.emplace_back(cpu.numa_node, cpu.core);
  }
  std::sort(cores.begin(), cores.end());
  cores.erase(std::unique(cores.begin(), cores.end()), cores.end());
  Seats result;
  for (size_t i = 0; i < workers; ++i) {
    const int node = cores[Spread(i, workers, cores.size())].first;
    result.seats.push_back(
        {.numa_node = node,
         .gpu = nullptr,
         .reason = absl::StrCat(why, ": worker ", i, " of ", workers,
                                " is at NUMA node ", node)});
  }
  const std::vector<int> nodes = NodesOf(allowed);
  result.how = nodes.size() == 1 ? absl::StrCat(why, ", and one NUMA node")
                                 : absl::StrCat(why, ": spread evenly over ",
                                                NodesText(nodes));
  return result;
}

const PciDevice* Find(const MachineLayout& layout, const std::string& address) {
  const auto found =
      std::find_if(layout.devices.begin(), layout.devices.end(),
                   [&](const PciDevice& d) { return d.address == address; });
  return found == layout.devices.end() ? nullptr : &*found;
}

// The nodes with CPUs at which a device may be; `usable` if unknown.
std::vector<int> MaybeAt(const PciDevice* device, const std::vector<int>& nodes,
                         const std::vector<int>& usable) {
  if (nodes.size() == 1) return nodes;
  std::vector<int> near;
  if (device != nullptr) {
    for (const int node : device->numa_nodes) {
      if (std::count(nodes.begin(), nodes.end(), node) > 0) {
        near.push_back(node);
      }
    }
  }
  if (near.size() == 1) return near;
  // If there are several, only those with usable cores.
  std::vector<int> open;
  for (const int node : near.empty() ? usable : near) {
    if (std::count(usable.begin(), usable.end(), node) > 0) {
      open.push_back(node);
    }
  }
  return open.empty() ? usable : open;
}

Seats SeatByGpu(const MachineLayout& layout,
                const std::vector<LogicalCpu>& allowed,
                const std::vector<std::string>& gpus) {
  const std::vector<int> nodes = NodesOf(layout.cpus);
  const std::vector<int> usable = NodesOf(allowed);
  std::vector<std::vector<int>> at;
  // number of devices that may be at each set of nodes
  std::map<std::vector<int>, size_t> unsure;
  Seats result;
  for (const std::string& address : gpus) {
    result.seats.push_back({.gpu = Find(layout, address)});
    at.push_back(MaybeAt(result.seats.back().gpu, nodes, usable));
    if (at.back().size() > 1) ++unsure[at.back()];
  }
  std::map<std::vector<int>, size_t> seated;
  for (size_t i = 0; i < gpus.size(); ++i) {
    Seat& seat = result.seats[i];
    const std::string name = absl::StrCat(
        "GPU ", i, gpus[i].empty() ? "" : absl::StrCat(" (", gpus[i], ")"));
    if (at[i].size() == 1) {
      seat.numa_node = at[i][0];
      seat.reason = absl::StrCat(
          name, " is at ",
          nodes.size() == 1 ? "the only NUMA node, " : "NUMA node ",
          seat.numa_node);
      continue;
    }
    seat.numa_node =
        at[i][Spread(seated[at[i]]++, unsure[at[i]], at[i].size())];
    seat.reason =
        absl::StrCat("which of ", NodesText(at[i]), " ", name,
                     " is at is not known; spread evenly: ", seat.numa_node);
  }
  result.how = "by the GPUs' NUMA nodes";
  if (nodes.size() == 1) result.how = "there is one NUMA node";
  if (!unsure.empty()) {
    absl::StrAppend(&result.how,
                    "; where this machine does not tell them, spread evenly");
  }
  return result;
}

}  // namespace

Seats SeatWorkers(const MachineLayout& layout,
                  const std::vector<LogicalCpu>& allowed,
                  const std::vector<std::string>& gpus, int workers) {
  const size_t count = static_cast<size_t>(workers);
  if (gpus.empty()) return SpreadWorkers(allowed, count, "no GPU to be near");
  if (gpus.size() < count) {
    return SpreadWorkers(allowed, count,
                         absl::StrCat(count, " workers share ", gpus.size(),
                                      gpus.size() == 1 ? " GPU" : " GPUs"));
  }
  return SeatByGpu(layout, allowed, gpus);
}

}  // namespace muster::agent
