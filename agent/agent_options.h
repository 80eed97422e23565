#ifndef MUSTER_AGENT_AGENT_OPTIONS_H_
#define MUSTER_AGENT_AGENT_OPTIONS_H_

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "agent/health/health_options.h"
#include "agent/lifecycle/agent_policy.h"
#include "agent/logs/log_plan.h"
#include "agent/preemption/preemption_options.h"
#include "agent/progress/hang_policy.h"
#include "agent/store/store_path.h"
#include "agent/workers/worker_environment.h"
#include "agent/workers/worker_input.h"
#include "rendezvous/protocol/job_spec.h"
#include "rendezvous/protocol/report.h"

namespace muster::agent {

// Everything an agent needs to know, from `launch`'s or `agent`'s options.
struct AgentOptions {
  std::string run_id;
  rendezvous::NodeIdentity
      node;  // address may be empty: the link's own is taken
  rendezvous::JobSpec spec;
  EnvironmentPlan environment;
  LogPlan logs;
  std::vector<std::string> argv;  // the worker's command
  // --NAME=LOCAL_RANK is inserted into argv at this place; NAME empty: nothing.
  std::string local_rank_flag;
  size_t local_rank_at = 0;
  // Whether "${local_rank}" behind that place is the worker's local rank.
  bool expands_local_rank = false;
  // Which workers read this process's stdin.
  WorkerInput input;
  AgentPolicy policy;
  // Signals that stop the job. Those to forward, those on which to leave and
  // those of a preemption precede them, in ascending order.
  std::vector<int> signals_to_handle;
  PreemptionOptions preemption;
  HealthOptions health;
  // What `health.checks` come to; called from any thread, may take long.
  std::function<absl::Status()> node_checks;
  // The port of every round's store where this node serves it; 0: a free one.
  int store_port = 0;
  std::string store_port_flag = "--store-port";  // who fixed it, for messages
  // Where the folder of the workers' progress sockets is made.
  std::string socket_parent = "/tmp";
  std::string coordinator_endpoint;  // for messages
  std::string absent_hint;           // Defaults::absent_hint
  StorePath store_path = StorePath::kDirect;
  std::vector<std::string> remarks;  // one line each, said at the beginning
  // What makes NCCL ids (see agent/nccl_id); empty: nobody.
  std::string nccl_id_program;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_AGENT_OPTIONS_H_
