#ifndef MUSTER_AGENT_PREEMPTION_PREEMPTION_ANNOUNCER_H_
#define MUSTER_AGENT_PREEMPTION_PREEMPTION_ANNOUNCER_H_

#include <functional>
#include <string>
#include <vector>

#include "agent/commands/timed_task.h"
#include "agent/preemption/preemption_file.h"
#include "base/time.h"
#include "rendezvous/protocol/report.h"

namespace muster::agent {

// Announces the job's preemption on this node: to the workers by a file, and by
// the user's command (--on-preempt). The command's environment has
//
//   MUSTER_RUN_ID, MUSTER_NODE_ID,
//   MUSTER_PREEMPTION_SIGNAL  such as SIGUSR1
//   MUSTER_PREEMPTION_HOST    the host that got the signal
//   MUSTER_PREEMPTION_GRACE   seconds
//   MUSTER_PREEMPTION_FILE    unless there is no file yet
//
// and the command is killed if this process dies. Not thread-safe.
class PreemptionAnnouncer {
 public:
  struct Options {
    std::string command;  // empty: none
    std::string run_id;
    std::string node_id;
    // How long the command may run after the end of the grace period.
    Duration after_grace = Duration::zero();
    // The signals that announce a preemption; the command ignores them. A
    // cluster may send them to every process of a job.
    std::vector<int> signals;
    std::function<void(const std::string&)> on_notice;
  };
  explicit PreemptionAnnouncer(Options options);

  PreemptionFile& file() { return file_; }

  // Announces the preemption. `done` is called once, from this or another
  // thread, when the command has ended, however it ended; not after End. A
  // failure is printed in one line and has no other effect.
  void Announce(const rendezvous::PreemptionNotice& notice,
                std::function<void()> done);

  // Kills the command if it still runs, and prints the reason.
  void End(const std::string& why);

 private:
  const Options options_;
  PreemptionFile file_;
  TimedTask hook_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_PREEMPTION_PREEMPTION_ANNOUNCER_H_
