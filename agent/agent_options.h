#ifndef MUSTER_AGENT_AGENT_OPTIONS_H_
#define MUSTER_AGENT_AGENT_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "agent/gpus/job_files.h"
#include "agent/lifecycle/agent_policy.h"
#include "agent/logs/log_plan.h"
#include "agent/store/store_plan.h"
#include "agent/workers/worker_environment.h"
#include "agent/workers/worker_input.h"
#include "base/time.h"
#include "rendezvous/endpoint/endpoint.h"
#include "rendezvous/protocol/job_spec.h"
#include "rendezvous/protocol/report.h"

namespace muster::agent {

// The options about a node's health: the checks that the node must pass before
// each round, and the addresses and files of its probes, metrics and dashboard.
struct HealthOptions {
  std::string command;  // health check of the user, run by `sh -c`; empty: none
  // health checks of Muster: gpu, disk, memory, shm
  std::vector<std::string> checks;
  Duration timeout = std::chrono::seconds(60);
  Duration interval = std::chrono::seconds(30);
  // Addresses at which HTTP servers listen; nullopt: no server. The server at
  // probe_listen answers the probes, the server at metrics_listen both the
  // metrics and the probes.
  std::optional<rendezvous::Endpoint> probe_listen;
  std::optional<rendezvous::Endpoint> metrics_listen;
  // The file for node_exporter's textfile collector; empty: none.
  std::string metrics_textfile;
  // Whether each worker has metrics of its own.
  bool metrics_ranks = false;
  // The folder of the files that tell dcgm-exporter the job of each GPU
  // (agent/gpus/job_files.h); empty: none.
  std::string job_mapping_dir;
  // Address of the dashboard; nullopt: none.
  std::optional<rendezvous::Endpoint> dashboard_listen;
  int gpus_needed = 0;  // GPUs that this node's workers need; 0: unknown

  bool Asked() const { return !command.empty() || !checks.empty(); }

  bool operator==(const HealthOptions&) const = default;
};

// Whether a preempted job is put back into its cluster's queue.
enum class Requeue { kNo, kYes };

// The configured behaviour at a preemption.
struct PreemptionOptions {
  std::vector<int> signals;  // signals that announce a preemption
  // signal that the workers get at a preemption; 0: none
  int worker_signal = 15;
  Duration grace = std::chrono::seconds(120);
  std::string command;  // command run by `sh -c` on each node; empty: none
  Requeue requeue = Requeue::kNo;

  bool operator==(const PreemptionOptions&) const = default;
};

// The signals that workers ignore until they install a handler; bit n - 1 is
// signal n. Slurm sends the signals of a preemption to every process of a step.
// These signals must not kill a worker during its grace period.
uint64_t IgnoredByWorkers(const PreemptionOptions& options);

// The configuration of an agent, from the options of `launch` or `agent`.
struct AgentOptions {
  std::string run_id;
  // This node's identity; an empty address is replaced by the local address of
  // the connection to the coordinator.
  rendezvous::NodeIdentity node;
  // a random secret that proves that this agent holds the node's place
  // (Report::place_key)
  std::string place_key;
  rendezvous::JobSpec spec;
  EnvironmentPlan environment;
  LogPlan logs;
  std::vector<std::string> argv;  // the worker's command
  // If not empty: the argument --NAME=LOCAL_RANK, where NAME is this value, is
  // inserted into the worker's argv at position local_rank_at.
  std::string local_rank_flag;
  size_t local_rank_at = 0;
  // Whether "${local_rank}" is replaced by the local rank in the arguments
  // from position local_rank_at on.
  bool expands_local_rank = false;
  // Which workers read the stdin of this process (--stdin).
  WorkerInput input;
  AgentPolicy policy;
  // Signals that this agent handles. Three lists say what a signal does; the
  // first list that contains the signal decides. PreemptionOptions::signals:
  // the signal announces a preemption. AgentPolicy::signals_to_leave: it makes
  // this node leave. AgentPolicy::signals_to_forward: it is forwarded to the
  // workers. A signal in none of the lists stops the job.
  std::vector<int> signals_to_handle;
  PreemptionOptions preemption;
  HealthOptions health;
  // The job files: for each GPU of this node one file, which names the GPU's
  // job. The agent writes them when a round's workers start, and removes them
  // at the end. The agent's caller sets the files' names.
  JobFiles job_files;
  // Runs the built-in health checks in `health.checks`. Called from any thread;
  // may block for the time limit `health.timeout`.
  std::function<absl::Status()> health_checks;
  // The port on which this node serves the key-value store of a round's
  // workers; 0: any free port.
  int store_port = 0;
  // the flag that set store_port, for messages
  std::string store_port_flag = "--store-port";
  // Addresses and networks that this node's store serves besides the round's
  // nodes (--store-clients).
  std::vector<std::string> store_clients;
  // The parent of the folder with the workers' progress sockets.
  std::string socket_parent = "/tmp";
  // HOST:PORT of the coordinator, or several endpoints of this form; only for
  // messages
  std::string coordinator_endpoint;
  // HOST:PORT of other nodes, one of which may have taken over as coordinator
  // when this agent starts. Tried if the coordinator does not answer.
  std::vector<std::string> other_endpoints;
  // The address (HOST:PORT) at which this process can act as coordinator;
  // empty: it cannot.
  std::string standby_endpoint;
  // One line of advice on how to find out why other nodes are missing, such as
  // a command; empty: none.
  std::string absent_hint;
  StorePath store_path = StorePath::kDirect;
  // Whether the NCCL of the workers loads Muster's profiler plug-in. The
  // creator of this struct adds the plug-in's path to `environment`.
  bool profiles_collectives = false;
  // lines printed for the user at the start of the run
  std::vector<std::string> remarks;
  // The program that the agent starts to create NCCL ids (see agent/nccl_id);
  // empty: none are created.
  std::string nccl_id_program;
  // The program that the agent starts to measure this node's GPUs for the check
  // by pairs (agent/pair_check/gpu_pair.h); empty: there is no GPU.
  std::string gpu_pair_program;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_AGENT_OPTIONS_H_
