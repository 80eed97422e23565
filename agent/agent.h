#ifndef MUSTER_AGENT_AGENT_H_
#define MUSTER_AGENT_AGENT_H_

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "agent/agent_options.h"
#include "agent/agent_view.h"
#include "agent/gpus/gpu_watch.h"
#include "agent/guardian/guardian.h"
#include "agent/logs/console.h"
#include "agent/logs/log_account.h"
#include "rendezvous/client/coordinator_link.h"
#include "rendezvous/protocol/verdict.h"

namespace muster::agent {

// How a job ended for this node: by itself, or because this node received a
// signal that stops or preempts the job. Soon after such a signal the cluster
// kills this process, so the agent must not wait long for its console.
enum class JobEnd { kByItself, kBySignal };
// Returns the limits for the agent's wait for its console at the end of the
// job. If the job ended by itself (kByItself), returns `limits` unchanged. If a
// signal ended the job (kBySignal), WaitLimits::end_signals of the result also
// counts this signal, which makes the wait shorter.
ConsoleWriter::WaitLimits WaitLimitsAtEnd(ConsoleWriter::WaitLimits limits,
                                          JobEnd end);

// The result of an agent's run.
struct AgentResult {
  // The exit code for this process.
  int exit_code = 0;
  // Whether the job has succeeded while this node stayed a spare: no worker
  // ever ran here. `reason` then says so.
  bool never_ran = false;
  // The job's verdict, if the coordinator gave one.
  std::optional<rendezvous::Verdict> verdict;
  // If there is no verdict: one sentence that says why this node stopped, for
  // example because the coordinator refused the node or did not answer within
  // its deadline.
  std::string reason;
  // Whether this node performs the actions that are done once per job, such as
  // requeueing the job in Slurm (Directive::acts_for_job).
  bool acts_for_job = false;
  // The folder of the run's log files; empty: no log files.
  std::string log_folder;
  // kBySignal: this node received a signal that stops or preempts the job.
  JobEnd end = JobEnd::kByItself;
};

// One node's agent. Passes the coordinator's directives, the guardian's events,
// signals and the time to the lifecycle (a state machine without I/O), and
// performs the actions that the lifecycle requests.
//
// Run blocks until the job has ended for this node and every worker is gone.
// The constructor blocks the handled signals in the calling thread, and Run
// reads them from a signalfd. Create other threads after the construction, so
// that they inherit the blocked signals.
class Agent {
 public:
  // Receivers of the agent's messages, state and output during the run. The
  // callbacks are called in the thread of Run, in the threads of the round's
  // store, and in the thread in which `gpus` listens for errors of GPUs.
  struct Observer {
    // Receives one line for the user: joined, waiting for nodes, round n began,
    // worker died.
    std::function<void(const std::string&)> on_notice;
    // Receives one line for the user about a failure, which is printed with
    // --quiet too.
    std::function<void(const std::string&)> on_loss;
    // Called in the thread of Run when a round begins on this node, before its
    // workers start. May be null.
    std::function<void()> on_round;
    // The object in which the agent publishes its state, for probes; may be
    // null.
    AgentView* view = nullptr;
    // The destination of workers' output; null: this process's stdout and
    // stderr. `limits` bounds how long the end of the run waits for a console
    // that accepts no output.
    std::shared_ptr<Console> console;
    // Counts the bytes that are missing in the log files; complete after the
    // agent's destruction. May be null.
    std::shared_ptr<LogAccount> log_account;
    // Reports the Xids (error codes of NVIDIA's driver) of the node's GPUs. The
    // agent passes them to the user. Must outlive the agent. May be null.
    GpuWatch* gpus = nullptr;
    ConsoleWriter::WaitLimits limits = {.without_progress =
                                            std::chrono::seconds(1)};
  };

  // `guardian` and `link` must outlive the agent; `link` must not have been
  // opened.
  Agent(AgentOptions options, Guardian* guardian,
        rendezvous::CoordinatorLink* link, Observer observer);
  ~Agent();

  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  AgentResult Run();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_AGENT_H_
