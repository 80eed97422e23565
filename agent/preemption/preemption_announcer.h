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

// Tells this node that the job is being preempted: its workers by a file, and
// whoever a person wants to be told by a command (--on-preempt). The command
// finds in its environment
//
//   MUSTER_RUN_ID, MUSTER_NODE_ID, MUSTER_PREEMPTION_SIGNAL (SIGUSR1),
//   MUSTER_PREEMPTION_HOST (where it came), MUSTER_PREEMPTION_GRACE (seconds),
//   MUSTER_PREEMPTION_FILE (unless there is none yet)
//
// and dies with this process. Not thread-safe.
class PreemptionAnnouncer {
 public:
  struct Options {
    std::string command;  // empty: none
    std::string run_id;
    std::string node_id;
    // How long the command may run on once the grace is over.
    Duration after_grace = Duration::zero();
    // Those that announce a preemption. A cluster may send them to every
    // process of a job, after another node has told of them.
    std::vector<int> signals;
    std::function<void(const std::string&)> on_notice;
  };
  explicit PreemptionAnnouncer(Options options);

  PreemptionFile& file() { return file_; }

  // `done` is told once all of it has ended, how ever it did, from here or from
  // another thread; not after End. Failures are said in one line, and are no
  // more than that.
  void Announce(const rendezvous::PreemptionNotice& notice,
                std::function<void()> done);

  // Ends the command, and says so, with the reason, if it was still running.
  void End(const std::string& why);

 private:
  const Options options_;
  PreemptionFile file_;
  TimedTask hook_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_PREEMPTION_PREEMPTION_ANNOUNCER_H_
