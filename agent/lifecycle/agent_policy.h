#ifndef MUSTER_AGENT_LIFECYCLE_AGENT_POLICY_H_
#define MUSTER_AGENT_LIFECYCLE_AGENT_POLICY_H_

#include <chrono>
#include <vector>

#include "agent/progress/hang_policy.h"
#include "base/time.h"
#include "rendezvous/protocol/verdict.h"

namespace muster::agent {

// Whether the output of a job's nodes flows together, as that of a Slurm step
// does: then a message about the whole job is to be printed once.
enum class Telling {
  kAlone,  // this node is the only one there
  kFirst,  // it says what nobody else may be there to say
  kOther,
};

// How an agent behaves towards its coordinator, signals and silent workers.
// The command line fills it in, and the agent's state machine reads it: what is
// between passes it on as a whole.
struct AgentPolicy {
  // How long the first connection may take, and how long the coordinator may
  // be absent later, with workers running.
  Duration connect_timeout = std::chrono::seconds(60);
  Duration coordinator_timeout = std::chrono::seconds(60);
  // Signals that go to every worker of the job.
  std::vector<int> signals_to_forward;
  // Signals on which this node alone leaves, such as a pod's eviction.
  std::vector<int> signals_to_leave;
  // Which silence of a worker is a hang.
  HangPolicy hangs;
  // Who of the nodes says what they all hear of.
  Telling telling = Telling::kAlone;
  // A coordinator of another job is asked again, for as long as an absent one
  // is waited for, instead of being believed.
  bool asks_again = false;
  bool waits_for_place = false;  // Report::waits_for_place
  // The exit code after the success of a job that had no use for this node.
  int never_ran_exit_code = rendezvous::kNeverRanExitCode;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LIFECYCLE_AGENT_POLICY_H_
