#include "agent/binding/binding_plan.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/binding/cpu_list.h"
#include "agent/binding/near_nic.h"
#include "agent/binding/worker_seats.h"

namespace muster::agent {
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

// The socket of a node's first CPU.
std::optional<int> SocketOf(const Cpus& cpus, int node) {
  for (const LogicalCpu& cpu : cpus) {
    if (cpu.numa_node == node) return cpu.socket;
  }
  return std::nullopt;
}

// All usable CPUs of the nodes of `node`'s socket.
Cpus AtSocketOf(const Cpus& cpus, int node) {
  const std::optional<int> socket = SocketOf(cpus, node);
  Cpus found;
  for (const LogicalCpu& cpu : cpus) {
    if (SocketOf(cpus, cpu.numa_node) == socket) found.push_back(cpu);
  }
  return found;
}

// Share number `turn` of `sharers` equal shares of the cores of `cpus`; empty
// if there are fewer cores than sharers.
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

// The core complex of turn `turn`, in cyclic order, the largest first.
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

// The position of a seat among those at the same node, and their number.
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

}  // namespace muster::agent
