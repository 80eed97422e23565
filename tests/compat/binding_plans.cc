// Prints to which CPUs Muster would bind the workers of simulated machines.
// numa_test.py compares the output with PyTorch's plan.
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>

#include "agent/binding/binding_plan.h"
#include "agent/binding/cpu_list.h"
#include "agent/binding/read_layout.h"

namespace muster {
namespace {

agent::Binding ModeOf(const std::string& name) {
  for (const agent::Binding mode :
       {agent::Binding::kNode, agent::Binding::kSocket,
        agent::Binding::kExclusive, agent::Binding::kCoreComplex}) {
    if (name == agent::BindingName(mode)) return mode;
  }
  return agent::Binding::kNone;
}

// Splits "a,b" at the commas.
std::vector<std::string> Parts(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> parts;
  for (std::string part; std::getline(in, part, ',');) parts.push_back(part);
  return parts;
}

std::string Plan(const std::string& line) {
  std::istringstream in(line);
  std::string root, mode, allowed, gpus;
  in >> root >> mode >> allowed >> gpus;
  setenv("HWLOC_FSROOT", root.c_str(), 1);
  const absl::StatusOr<agent::MachineLayout> layout = agent::ReadLayout();
  if (!layout.ok()) return std::string(layout.status().message());
  agent::BindingRequest request;
  request.mode = ModeOf(mode);
  for (const std::string& cpu : Parts(allowed)) {
    request.allowed.push_back(std::stoi(cpu));
  }
  request.gpus = Parts(gpus);
  request.workers = static_cast<int>(request.gpus.size());
  const absl::StatusOr<agent::BindingPlan> plan =
      agent::PlanBinding(request, *layout);
  if (!plan.ok()) return "refused";
  std::string text;
  for (const agent::WorkerBinding& worker : plan->workers) {
    text += (text.empty() ? "" : " | ") + agent::CpuList(worker.cpus);
  }
  return text;
}

}  // namespace
}  // namespace muster

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << muster::Plan(line) << std::endl;
  }
}
