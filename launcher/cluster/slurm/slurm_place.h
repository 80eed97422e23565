#ifndef MUSTER_LAUNCHER_CLUSTER_SLURM_SLURM_PLACE_H_
#define MUSTER_LAUNCHER_CLUSTER_SLURM_SLURM_PLACE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace muster::launcher {

using SlurmEnvironment = std::map<std::string, std::string>;

// The kind of place in a Slurm job in which a process runs.
enum class SlurmContext {
  kStep,   // a task that srun started
  kBatch,  // a batch script, or salloc's shell on a node of the job
  // salloc's shell, on a machine that may be outside of the job's nodes
  kShell,
};

// The contents of Slurm's variables. Inside a step, the variables of the step
// are used, because a step may have fewer nodes than its job.
struct SlurmPlace {
  SlurmContext context = SlurmContext::kShell;
  // The run id: equal on all nodes, and unique for each job, step and run of a
  // requeued job. Examples: "7.0"; "5_3.0" in an array; "7+1.0" in a later
  // component of a heterogeneous job; "7.0-r2" after two requeues.
  std::string run_id;
  // The job's id: "7", "5_3", "7+1". It is the same for all steps of the job. A
  // requeued job keeps this id.
  std::string job_name;
  uint16_t port = 0;  // port of the coordinator of this Slurm job step
  // The default host of the coordinator: in a Slurm step the host of task 0,
  // otherwise the first node of the Slurm job.
  std::string first_host;
  // Number of nodes of the step; outside of a step, of the job.
  int nodes = 0;
  int tasks = 0;            // number of tasks of the Slurm job step
  int tasks_on_a_node = 0;  // largest number of tasks on one node of the step
  // number of tasks on each node in Slurm's format: "2(x3),1"
  std::string tasks_per_node;
  // rank of this task in its Slurm job step (SLURM_PROCID); nullopt: not in a
  // step
  std::optional<int> task;
  // number of this task on its node (SLURM_LOCALID)
  std::optional<int> task_on_node;
  std::string node_name;  // value of SLURMD_NODENAME; empty: not set
};

// Returns the value of a Slurm variable; empty if it is not set.
std::string SlurmValue(const SlurmEnvironment& environment,
                       const std::string& name);

// Reads the place of this process from Slurm's variables. InvalidArgument, one
// line that begins with the invalid variable. Pure.
absl::StatusOr<SlurmPlace> ReadSlurmPlace(const SlurmEnvironment& environment);

// The port of the coordinator of a job's step, between 12000 and 32767, which
// is below the ports that Linux assigns to outgoing connections. Two steps of
// one job have different ports unless their numbers differ by a multiple of
// 20768. The first 16 steps of two jobs have different ports unless the job
// numbers differ by a multiple of 1298. (Tasks of an array are jobs with their
// own numbers.)
uint16_t SlurmPort(uint64_t job, uint64_t step);

// Translates Slurm's description of a node's place in the network to labels for
// --topology, the outermost first. SLURM_TOPOLOGY_ADDR "top.leaf1.n3" with
// SLURM_TOPOLOGY_ADDR_PATTERN "switch.switch.node" gives
// "switch1=top,switch2=leaf1". Empty if the pattern has only a node, or does
// not fit the address. Pure.
std::string TopologyLabels(const std::string& address,
                           const std::string& pattern);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_CLUSTER_SLURM_SLURM_PLACE_H_
