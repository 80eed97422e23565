#ifndef MUSTER_AGENT_LIFECYCLE_AGENT_POLICY_H_
#define MUSTER_AGENT_LIFECYCLE_AGENT_POLICY_H_

#include <chrono>
#include <csignal>
#include <optional>
#include <vector>

#include "base/time.h"
#include "rendezvous/protocol/verdict.h"

namespace muster::agent {

// The value of --hang-timeout: the rule for when a worker's silence counts as a
// hang. The rule applies only to workers that have reported in this round. A
// worker that has not reported yet may be compiling, or may not report at all.
enum class HangDetection {
  // "auto": the longest permitted silence is the WATCHDOG_S that the worker has
  // reported; without such a report, a learned value (hang_watch.h)
  kLearned,
  // a number of seconds: the longest permitted silence is the WATCHDOG_S that
  // the worker has reported; without such a report, HangPolicy::timeout
  kGiven,
  kOff,  // "off": no silence counts as a hang; WATCHDOG_S is ignored
};

struct HangPolicy {
  HangDetection detection = HangDetection::kLearned;
  // With kGiven, the duration of silence that counts as a hang.
  Duration timeout = Duration::zero();

  bool operator==(const HangPolicy&) const = default;
};

// The messages about the whole job that this node prints. If the outputs of all
// nodes are merged, as in a Slurm step, each message must come from one node
// only. The coordinator's directive can assign a message to a node.
enum class JobMessages {
  kAll,  // all messages, because the outputs of the nodes are not merged
  // This node prints the messages that the directive assigns to it. It also
  // prints the general messages, for which the directive never chooses a node.
  kAssignedAndGeneral,
  kAssigned,  // only messages that the directive assigns to this node
};

// Exit code of an agent that leaves its job for one of two reasons: it has lost
// its guardian (the process that starts its workers), or it has lost the
// connection to the `launch --hostfile` that started it. The value is
// EX_SOFTWARE of sysexits.h. The job may continue without this node.
inline constexpr int kWorkersLostExitCode = 70;

// The signal on which an agent leaves its job because the connection to the
// `launch --hostfile` that started it was lost. Muster uses SIGPWR for nothing
// else.
inline constexpr int kConnectionLostSignal = SIGPWR;

// The agent's behaviour towards its coordinator, signals and silent workers.
// The command line fills the struct in, and the agent's state machine reads it.
struct AgentPolicy {
  // connect_timeout: the longest wait for the first connection to the
  // coordinator. coordinator_timeout: the longest absence of the coordinator
  // after the first connection.
  Duration connect_timeout = std::chrono::seconds(60);
  Duration coordinator_timeout = std::chrono::seconds(600);
  // Signals that are forwarded to all workers of the job.
  std::vector<int> signals_to_forward;
  // Signals that remove only this node from the job, such as the SIGTERM of a
  // pod's eviction.
  std::vector<int> signals_to_leave;
  // The rules that decide when a silent worker counts as hung.
  HangPolicy hangs;
  // The messages about the whole job that this node prints.
  JobMessages job_messages = JobMessages::kAll;
  // Whether an agent that has reached the coordinator of another job connects
  // again, until connect_timeout has passed. Otherwise the agent exits at once.
  bool retries_wrong_coordinator = false;
  // Whether this agent waits if another live agent has this node's place in the
  // job. Otherwise the coordinator refuses this agent.
  bool waits_for_place = false;
  // The exit code if the job succeeded, and neither this agent nor an earlier
  // agent of this node had a place in a round. Otherwise the verdict's exit
  // code counts.
  int never_ran_exit_code = rendezvous::kNeverRanExitCode;

  bool operator==(const AgentPolicy&) const = default;
};

// Whether a signal to `launch` or an agent ends the job, or this node's part of
// it. The arguments are the lists of --signals-to-handle, --signals-to-forward
// and --signals-to-preempt. If a signal is in several lists, the last of them
// decides. SIGINT, SIGTERM, SIGHUP and SIGQUIT end the job unless they are
// forwarded.
bool EndsJob(int signal, const std::vector<int>& handled,
             const std::vector<int>& forwarded,
             const std::vector<int>& preempting);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LIFECYCLE_AGENT_POLICY_H_
