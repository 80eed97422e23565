#ifndef MUSTER_AGENT_AGENT_H_
#define MUSTER_AGENT_AGENT_H_

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "agent/agent_options.h"
#include "agent/agent_view.h"
#include "agent/guardian/guardian.h"
#include "agent/logs/console.h"
#include "agent/logs/log_account.h"
#include "rendezvous/client/coordinator_link.h"
#include "rendezvous/protocol/verdict.h"

namespace muster::agent {

// How long the console is waited for at the end: less where a signal ended the
// job, since a cluster kills what is left soon after it. That signal counts
// before those that `patience` counts.
enum class JobEnd { kByItself, kBySignal };
ConsoleWriter::Patience PatienceAtEnd(ConsoleWriter::Patience patience,
                                      JobEnd end);

// How an agent's life ended.
struct AgentResult {
  // What the process shall exit with.
  int exit_code = 0;
  // The job has succeeded, and no worker ever ran here; `reason` says so.
  bool never_ran = false;
  // The job's verdict, where the coordinator gave one.
  std::optional<rendezvous::Verdict> verdict;
  // Without a verdict: one sentence that says why this node stopped (refused,
  // released, the coordinator did not answer within its deadline).
  std::string reason;
  // Of all nodes this one acts for the job (Directive::acts_for_job).
  bool acts_for_job = false;
  // Where the run's log files are; empty: there are none.
  std::string log_folder;
  // Whether a signal that stops or preempts the job came to this node.
  JobEnd end = JobEnd::kByItself;
};

// One node's agent: drives the pure lifecycle with the coordinator's
// directives, the guardian's events, signals and time.
//
// Run blocks until the job has ended for this node and every worker is gone.
// It blocks the signals that it handles in the calling thread and takes them
// through a signalfd, so create threads after constructing it.
class Agent {
 public:
  // Told in the middle of the run, from the thread of Run and the store's.
  struct Observer {
    // One line for a person: joined, waiting for…, round n began, worker died.
    std::function<void(const std::string&)> on_notice;
    // One line for a person who wants to hear only what went wrong, as well.
    std::function<void(const std::string&)> on_loss;
    // Shows what the agent is, for probes; null: nobody looks.
    AgentView* view = nullptr;
    // Where workers' output goes; null: this process's stdout and stderr. How
    // long it is waited for at the end.
    std::shared_ptr<Console> console;
    // The missing bytes of the log files, complete once the agent has ended;
    // null: they are not asked for.
    std::shared_ptr<LogAccount> log_account;
    ConsoleWriter::Patience patience = {.without_progress =
                                            std::chrono::seconds(1)};
  };

  // `guardian` and `link` outlive the agent; `link` has not been opened.
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
