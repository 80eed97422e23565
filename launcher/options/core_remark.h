#ifndef MUSTER_LAUNCHER_OPTIONS_CORE_REMARK_H_
#define MUSTER_LAUNCHER_OPTIONS_CORE_REMARK_H_

#include <string>

#include "launcher/options/machine_facts.h"
#include "launcher/options/worker_slots.h"

namespace muster::launcher {

// A sentence for a person about a node that has too few cores for its workers,
// with what to ask the cluster for: Slurm gives a task one core unless it is
// asked for more. Empty where there are enough: as many as workers where these
// use GPUs, a fourth of them elsewhere, where a small test shares its machine.
// Pure.
std::string CoreRemark(const WorkerSlots& slots, const MachineFacts& facts);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_OPTIONS_CORE_REMARK_H_
