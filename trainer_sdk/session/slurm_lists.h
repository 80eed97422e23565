#ifndef MUSTER_TRAINER_SDK_SESSION_SLURM_LISTS_H_
#define MUSTER_TRAINER_SDK_SESSION_SLURM_LISTS_H_

#include <optional>
#include <string>

namespace muster {

// Returns the first host of a Slurm host list: "gpu007" for
// "gpu[007-011,20],x". nullopt: the text is not a host list. Pure.
std::optional<std::string> FirstHost(const std::string& list);

// Returns the number of tasks on the node with index `node` (from 0), read from
// the value of SLURM_STEP_TASKS_PER_NODE ("4(x3),2"). nullopt: the text is
// invalid or has fewer nodes. Pure.
std::optional<int> TasksOnNode(const std::string& tasks_per_node, int node);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SESSION_SLURM_LISTS_H_
