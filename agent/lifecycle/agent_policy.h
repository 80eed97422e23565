#ifndef MUSTER_AGENT_LIFECYCLE_AGENT_POLICY_H_
#define MUSTER_AGENT_LIFECYCLE_AGENT_POLICY_H_

#include <chrono>
#include <vector>

#include "agent/progress/hang_policy.h"
#include "base/time.h"
#include "rendezvous/protocol/verdict.h"

namespace muster::agent {

// The node's part in printing messages about the whole job. If the outputs of
// all nodes flow together, as in a Slurm step, only one node prints them.
enum class Telling {
  kAlone,  // the output of this node is not mixed with that of others
  kFirst,  // also prints what no directive assigns to a node
  kOther,  // prints only what concerns this node
};

// The agent's behaviour towards its coordinator, signals and silent workers.
// The command line fills the struct in, and the agent's state machine reads it.
struct AgentPolicy {
  // The longest wait for the first connection, and the longest absence of the
  // coordinator afterwards, while workers run.
  Duration connect_timeout = std::chrono::seconds(60);
  Duration coordinator_timeout = std::chrono::seconds(60);
  // Signals that are forwarded to all workers of the job.
  std::vector<int> signals_to_forward;
  // Signals that remove only this node from the job, such as a pod's eviction.
  std::vector<int> signals_to_leave;
  // When a silent worker counts as hung.
  HangPolicy hangs;
  // Whether this node prints messages about the whole job.
  Telling telling = Telling::kAlone;
  // Whether the agent retries after it reached the coordinator of another job,
  // until connect_timeout. Otherwise it exits at once.
  bool retries_wrong_coordinator = false;
  bool waits_for_place = false;  // see Report::waits_for_place
  // The exit code if the job succeeded and this node never got a place in it.
  int never_ran_exit_code = rendezvous::kNeverRanExitCode;

  bool operator==(const AgentPolicy&) const = default;
};

// Whether a signal to `launch` or an agent ends the job, or this node's part of
// it. The arguments are the lists of --signals-to-handle, --signals-to-forward
// and --signals-to-preempt; if a signal is in several lists, the last of them
// wins. SIGINT, SIGTERM, SIGHUP and SIGQUIT end the job unless they are
// forwarded.
bool EndsJob(int signal, const std::vector<int>& handled,
             const std::vector<int>& forwarded,
             const std::vector<int>& preempting);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LIFECYCLE_AGENT_POLICY_H_
