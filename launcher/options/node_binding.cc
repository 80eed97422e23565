#include "launcher/options/node_binding.h"

#include <algorithm>
#include <cstddef>

namespace muster::launcher {
namespace {

std::string AddressOf(const std::string& gpu, const MachineFacts& facts) {
  const auto found = std::find(facts.gpus.begin(), facts.gpus.end(), gpu);
  if (found == facts.gpus.end()) return "";
  return facts.gpu_addresses[static_cast<size_t>(found - facts.gpus.begin())];
}

}  // namespace

absl::StatusOr<agent::BindingPlan> PlanNodeBinding(const RunOptions& options,
                                                   const MachineFacts& facts,
                                                   const WorkerSlots& slots) {
  agent::BindingRequest request;
  request.mode = options.binding;
  request.workers = slots.count;
  request.allowed = facts.allowed_cpus;
  if (options.gpus.empty()) {
    request.gpus = facts.gpu_addresses;
  } else {
    for (const std::string& gpu : slots.gpu_of_local_rank) {
      request.gpus.push_back(AddressOf(gpu, facts));
    }
  }
  return agent::PlanBinding(request, facts.layout);
}

}  // namespace muster::launcher
