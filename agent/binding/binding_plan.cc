#include "agent/binding/binding_plan.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/binding/cpu_list.h"

namespace muster::agent {

const char* BindingName(Binding mode) {
  switch (mode) {
    case Binding::kNone:
      return "none";
    case Binding::kNode:
      return "node";
    case Binding::kSocket:
      return "socket";
    case Binding::kExclusive:
      return "exclusive";
    case Binding::kCoreComplex:
      return "core-complex";
  }
  return "none";
}

namespace {

size_t CommonBridges(const PciDevice& a, const PciDevice& b) {
  const auto [end, unused] = std::mismatch(a.bridges.begin(), a.bridges.end(),
                                           b.bridges.begin(), b.bridges.end());
  return static_cast<size_t>(end - a.bridges.begin());
}

std::string Nearest(const PciDevice& device, const std::vector<Nic>& nics,
                    NicKind kind) {
  size_t most = 0;
  std::string name;
  for (const Nic& nic : nics) {
    if (nic.kind != kind) continue;
    const size_t common = CommonBridges(device, nic.at);
    if (common > most) {
      most = common;
      name = nic.name;
    } else if (common == most) {
      name.clear();
    }
  }
  return name;
}

}  // namespace

std::string NearNic(const PciDevice& device, const std::vector<Nic>& nics) {
  const bool fast = std::any_of(nics.begin(), nics.end(), [](const Nic& nic) {
    return nic.kind == NicKind::kInfiniBand;
  });
  return Nearest(device, nics,
                 fast ? NicKind::kInfiniBand : NicKind::kEthernet);
}

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

// Distributes `count` items evenly over `size` bins, in order, and returns the
// index of the bin that gets item `i`.
size_t Spread(size_t i, size_t count, size_t size) { return i * size / count; }

Seats SpreadWorkers(const std::vector<LogicalCpu>& allowed, size_t workers,
                    const std::string& why) {
  // the cores that have a CPU in `allowed`, as pairs (NUMA node, core)
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

// The NUMA nodes to which `device` may belong. `nodes`: all NUMA nodes with
// CPUs. `usable`: the NUMA nodes with CPUs that this process may use. If the
// device's location is unknown, returns `usable`.
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
  // It is not certain to which NUMA node the device belongs. The candidates are
  // the nodes that the firmware names as near the device, or all nodes if the
  // firmware names none. Keep only the candidates with CPUs that this process
  // may use.
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
  // For each list of candidate NUMA nodes: the number of GPUs that may belong
  // to any node of this list.
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

namespace {

using Cpus = std::vector<LogicalCpu>;

std::vector<int> Numbers(const Cpus& cpus) {
  std::vector<int> numbers;
  for (const LogicalCpu& cpu : cpus) numbers.push_back(cpu.number);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

size_t CountCores(const Cpus& cpus) {
  std::set<int> cores;
  for (const LogicalCpu& cpu : cpus) cores.insert(cpu.core);
  return cores.size();
}

Cpus AtNode(const Cpus& cpus, int node) {
  Cpus found;
  for (const LogicalCpu& cpu : cpus) {
    if (cpu.numa_node == node) found.push_back(cpu);
  }
  return found;
}

// The socket of the first CPU of NUMA node `node`.
std::optional<int> SocketOf(const Cpus& cpus, int node) {
  for (const LogicalCpu& cpu : cpus) {
    if (cpu.numa_node == node) return cpu.socket;
  }
  return std::nullopt;
}

// The CPUs in `cpus` that are on the socket of NUMA node `node`.
Cpus AtSocketOf(const Cpus& cpus, int node) {
  const std::optional<int> socket = SocketOf(cpus, node);
  Cpus found;
  for (const LogicalCpu& cpu : cpus) {
    if (SocketOf(cpus, cpu.numa_node) == socket) found.push_back(cpu);
  }
  return found;
}

// Divides the cores of `cpus` into `sharers` equal shares and returns the share
// with index `turn`. Empty if there are fewer cores than sharers.
Cpus ShareOfCores(const Cpus& cpus, size_t turn, size_t sharers) {
  std::map<int, Cpus> cores;
  for (const LogicalCpu& cpu : cpus) cores[cpu.core].push_back(cpu);
  const size_t each = cores.size() / sharers;
  const size_t more = cores.size() % sharers;
  if (each == 0) return {};
  const size_t begin = turn * each + std::min(turn, more);
  const size_t end = begin + each + (turn < more ? 1 : 0);
  Cpus share;
  size_t at = 0;
  for (const auto& [core, threads] : cores) {
    if (at >= begin && at < end) {
      share.insert(share.end(), threads.begin(), threads.end());
    }
    ++at;
  }
  return share;
}

// The CPUs of one core complex (the cores that share a last-level cache).
// Successive values of `turn` select the complexes in cyclic order, the largest
// first.
Cpus ComplexOf(const Cpus& cpus, size_t turn) {
  std::map<int, Cpus> complexes;
  for (const LogicalCpu& cpu : cpus) complexes[cpu.complex].push_back(cpu);
  std::vector<Cpus> by_size;
  for (auto& [complex, members] : complexes) {
    by_size.push_back(std::move(members));
  }
  std::stable_sort(
      by_size.begin(), by_size.end(),
      [](const Cpus& a, const Cpus& b) { return a.size() > b.size(); });
  return by_size[turn % by_size.size()];
}

absl::Status NoCoreThere(const BindingRequest& request, const Seat& seat,
                         size_t worker) {
  return absl::InvalidArgumentError(
      absl::StrCat("--numa-binding=", BindingName(request.mode), ": worker ",
                   worker, " cannot be bound: ", seat.reason,
                   ", and this process may use no core there, only CPUs ",
                   CpuList(request.allowed),
                   "; ask for cores near the GPUs, or leave the flag out"));
}

absl::Status TooFewCores(const Seat& seat, size_t cores, size_t sharers) {
  return absl::InvalidArgumentError(absl::StrCat(
      "--numa-binding=exclusive: NUMA node ", seat.numa_node, " has ", cores,
      cores == 1 ? " core" : " cores", " that may be used and ", sharers,
      seat.gpu != nullptr ? " GPUs" : " workers",
      ", so that not everyone can have its own; write --numa-binding=node, or "
      "start fewer workers"));
}

// The position of a seat (a GPU or a worker) at its NUMA node. `sharers`: the
// number of seats at that node. `turn`: the index of this seat among them, from
// 0.
struct Turn {
  size_t turn = 0;
  size_t sharers = 0;
};

std::vector<Turn> Turns(const std::vector<Seat>& seats) {
  std::map<int, size_t> at_node;
  std::vector<Turn> turns;
  for (const Seat& seat : seats) {
    turns.push_back({.turn = at_node[seat.numa_node]++});
  }
  for (size_t i = 0; i < seats.size(); ++i) {
    turns[i].sharers = at_node[seats[i].numa_node];
  }
  return turns;
}

absl::StatusOr<Cpus> CpusOf(const BindingRequest& request, const Cpus& allowed,
                            const Seat& seat, const Turn& turn, size_t worker) {
  const Cpus near = AtNode(allowed, seat.numa_node);
  if (near.empty()) return NoCoreThere(request, seat, worker);
  switch (request.mode) {
    case Binding::kNone:
    case Binding::kNode:
      break;
    case Binding::kSocket:
      return AtSocketOf(allowed, seat.numa_node);
    case Binding::kExclusive: {
      Cpus share = ShareOfCores(near, turn.turn, turn.sharers);
      if (share.empty()) {
        return TooFewCores(seat, CountCores(near), turn.sharers);
      }
      return share;
    }
    case Binding::kCoreComplex:
      return ComplexOf(near, turn.turn);
  }
  return near;
}

void ShareThreads(std::vector<WorkerBinding>& workers) {
  std::map<std::vector<int>, int> sharers;
  for (const WorkerBinding& worker : workers) ++sharers[worker.cpus];
  for (WorkerBinding& worker : workers) {
    worker.threads = std::max(1, worker.threads / sharers[worker.cpus]);
  }
}

}  // namespace

absl::StatusOr<BindingPlan> PlanBinding(const BindingRequest& request,
                                        const MachineLayout& layout) {
  Cpus allowed;
  std::set<int> nodes;
  for (const LogicalCpu& cpu : layout.cpus) {
    nodes.insert(cpu.numa_node);
    if (std::binary_search(request.allowed.begin(), request.allowed.end(),
                           cpu.number)) {
      allowed.push_back(cpu);
    }
  }
  if (allowed.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--numa-binding=", BindingName(request.mode), ": CPUs ",
        CpuList(request.allowed),
        ", which this process may use, are not among those that the machine "
        "shows; leave the flag out"));
  }
  const Seats seats =
      SeatWorkers(layout, allowed, request.gpus, request.workers);
  const std::vector<Turn> turns = Turns(seats.seats);
  BindingPlan plan;
  plan.how = seats.how;
  for (size_t i = 0; i < static_cast<size_t>(request.workers); ++i) {
    const Seat& seat = seats.seats[i];
    absl::StatusOr<Cpus> cpus = CpusOf(request, allowed, seat, turns[i], i);
    if (!cpus.ok()) return cpus.status();
    WorkerBinding worker;
    worker.cpus = Numbers(*cpus);
    worker.threads = static_cast<int>(CountCores(*cpus));
    const bool one_node = AtNode(*cpus, seat.numa_node).size() == cpus->size();
    if (nodes.size() > 1 && one_node) worker.memory_node = seat.numa_node;
    if (seat.gpu != nullptr) worker.near_nic = NearNic(*seat.gpu, layout.nics);
    worker.reason = absl::StrCat(seat.reason, "; CPUs ", CpuList(worker.cpus));
    plan.workers.push_back(std::move(worker));
  }
  ShareThreads(plan.workers);
  return plan;
}

namespace {

constexpr size_t kMaxRemarkBytes = 400;
constexpr char kCut[] = " | ...";

// Replaces the characters of a network card's name that would break the format
// of BindingText: blanks and control characters become "?", and an empty name
// becomes "-".
std::string Shown(std::string name) {
  for (char& c : name) {
    if (static_cast<unsigned char>(c) <= ' ' || c == 0x7f) c = '?';
  }
  return name.empty() ? "-" : name;
}

// The network cards near the workers' GPUs: "@mlx5_0". For workers with
// different cards: "@mlx5_0,mlx5_1,-". Empty if no worker has a near card.
std::string NearNics(const std::vector<WorkerBinding>& workers, size_t begin,
                     size_t end) {
  std::string all;
  size_t none = 0;
  size_t like_first = 0;
  for (size_t i = begin; i < end; ++i) {
    const std::string& nic = workers[i].near_nic;
    absl::StrAppend(&all, i > begin ? "," : "@", Shown(nic));
    if (nic.empty()) ++none;
    if (nic == workers[begin].near_nic) ++like_first;
  }
  if (none == end - begin) return "";
  return like_first == end - begin
             ? absl::StrCat("@", Shown(workers[begin].near_nic))
             : all;
}

}  // namespace

std::string BindingText(Binding mode, const BindingPlan& plan, size_t most) {
  std::string text = absl::StrCat(BindingName(mode), ": ");
  const auto& workers = plan.workers;
  for (size_t i = 0; i < workers.size();) {
    size_t end = i + 1;
    while (end < workers.size() && workers[end].cpus == workers[i].cpus) ++end;
    std::string part = CpuList(workers[i].cpus);
    if (end - i > 1) absl::StrAppend(&part, " x", end - i);
    absl::StrAppend(&part, NearNics(workers, i, end));
    const size_t rest = end < workers.size() ? sizeof(kCut) - 1 : 0;
    if (text.size() + 3 + part.size() + rest > most) {
      return absl::StrCat(text, i > 0 ? kCut : "...");
    }
    absl::StrAppend(&text, i > 0 ? " | " : "", part);
    i = end;
  }
  return text;
}

std::string BindingRemark(Binding mode, const BindingPlan& plan) {
  const auto& workers = plan.workers;
  const bool has_nics = !NearNics(workers, 0, workers.size()).empty();
  return absl::StrCat(
      "workers are bound to CPUs: ", BindingText(mode, plan, kMaxRemarkBytes),
      " (", plan.how, has_nics ? "; @: the network card near the GPU" : "",
      ")");
}

}  // namespace muster::agent
