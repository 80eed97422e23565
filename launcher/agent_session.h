#ifndef MUSTER_LAUNCHER_AGENT_SESSION_H_
#define MUSTER_LAUNCHER_AGENT_SESSION_H_

#include <functional>
#include <string>
#include <vector>

#include "agent/agent.h"
#include "agent/agent_options.h"
#include "agent/guardian/guardian.h"
#include "agent/probes/agent_probes.h"
#include "launcher/voice.h"
#include "rendezvous/client/coordinator_link.h"
#include "rendezvous/dashboard/dashboard.h"
#include "rendezvous/dashboard/dashboard_access.h"
#include "rendezvous/metrics/job_metrics.h"
#include "rendezvous/protocol/job_status.h"

namespace muster::launcher {

// The origin of the log folder. kGiven: --log-dir. kTemporary: `launch` creates
// the folder before the job and removes it after a success.
enum class LogFolder { kGiven, kTemporary };

// Data and functions that connect the HTTP pages of a `launch` with the
// coordinator in the same process. All functions except `on_round` and `linger`
// may be called from any thread and do not block.
struct CoordinatorPages {
  // Checks the coordinator in this process. If the check fails, the liveness
  // probe of the HTTP pages fails. Empty: no check.
  agent::AlsoLive live;
  // Returns the jobs that the coordinator in this process coordinates now;
  // null: there is no coordinator in this process.
  std::function<std::vector<rendezvous::JobStatus>()> jobs;
  // Returns what the coordinator in this process has not passed on. Null if and
  // only if `jobs` is null.
  std::function<rendezvous::CoordinatorLosses()> losses;
  // Functions by which the dashboard reads the output of workers.
  rendezvous::DashboardInquirer inquirer;
  // Returns a sentence that names the process that coordinates the job. Returns
  // "" if this process coordinates the job. Null: this process has no
  // coordinator.
  std::function<std::string()> elsewhere;
  // The secret tokens, one of which a reader of the dashboard must give. They
  // are the tokens of the coordinator in this process or, without such a
  // coordinator, the token of this node. Empty: no token is needed.
  std::vector<std::string> tokens;
  rendezvous::CallerCertificates certificates =
      rendezvous::CallerCertificates::kNotRequired;
  // Called by the agent when a round begins on this node. May be null.
  std::function<void()> on_round;
  // Called with the exit code when the node is done, while its pages are still
  // served. Blocks until the other nodes no longer need the coordinator in this
  // process. Null: there is nothing to wait for.
  std::function<void(int exit_code)> linger;
};

// Runs an agent. Prints notices while the agent runs. At the end prints the
// verdict (or why there is none) and the path of the logs. `own`: the
// coordinator in this process.
agent::AgentResult RunAgentSession(const Voice& voice,
                                   agent::AgentOptions options,
                                   const std::string& program_name,
                                   LogFolder log_folder,
                                   agent::Guardian* guardian,
                                   rendezvous::CoordinatorLink* link,
                                   const CoordinatorPages& own = {});

// Points the link <directory>/latest at the run's folder. If the file system
// does not answer, gives up after 1 s.
void PointLatestInTime(const std::string& directory,
                       const std::string& run_name);

// Blocks the signals of `options` in this thread until the agent takes them.
// Threads that this thread creates from now on inherit the mask. Ignores
// SIGPIPE, so that a closed console does not end the job.
//
// Must be called after the guardian (the workers' parent process) has been
// forked: workers must start with the signal mask and actions that this process
// had before the call.
void PrepareSignals(const agent::AgentOptions& options);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_AGENT_SESSION_H_
