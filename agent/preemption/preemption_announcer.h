#ifndef MUSTER_AGENT_PREEMPTION_PREEMPTION_ANNOUNCER_H_
#define MUSTER_AGENT_PREEMPTION_PREEMPTION_ANNOUNCER_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "agent/commands/timed_task.h"
#include "base/time.h"
#include "rendezvous/protocol/report.h"

namespace muster::agent {

// The text of MUSTER_PREEMPTION_FILE: one line of JSON with the signal's name,
// the host that got it, and the remaining grace period in seconds. Pure.
//
//   {"signal":"SIGUSR1","host":"n1","grace_s":118.5}
std::string PreemptionLine(const rendezvous::PreemptionNotice& notice);

// The file that notifies a node's workers of the job's preemption. Written
// atomically when the notice arrives; removed by the destructor.
class PreemptionFile {
 public:
  PreemptionFile() = default;
  ~PreemptionFile();
  PreemptionFile(const PreemptionFile&) = delete;
  PreemptionFile& operator=(const PreemptionFile&) = delete;

  // Sets the folder in which Write makes the preemption file: the folder of the
  // worker sockets (ProgressSockets). If the agent is killed, the guardian
  // removes this folder together with the file (RemoveSocketFolder). Empty: no
  // file is written.
  void PutInto(const std::string& folder);

  // The path of the preemption file; empty if PutInto has set no folder.
  const std::string& path() const { return path_; }

  // Writes the preemption file. Unavailable, one line: the file cannot be
  // written.
  absl::Status Write(const rendezvous::PreemptionNotice& notice);

 private:
  std::string path_;
};

// Announces the job's preemption on this node: to the workers by a file, and by
// the user's command (--on-preempt). The command's environment has
//
//   MUSTER_RUN_ID, MUSTER_NODE_ID,
//   MUSTER_PREEMPTION_SIGNAL  such as SIGUSR1
//   MUSTER_PREEMPTION_HOST    the host that got the signal
//   MUSTER_PREEMPTION_GRACE   seconds
//   MUSTER_PREEMPTION_FILE    only if the file's folder is set
//
// The command is killed if the agent dies. Not thread-safe.
class PreemptionAnnouncer {
 public:
  struct Options {
    std::string command;  // command of --on-preempt; empty: no command
    std::string run_id;
    std::string node_id;
    // The time for which the command may run after the end of the grace period.
    Duration after_grace = Duration::zero();
    // The signals that announce a preemption. The process of `command` ignores
    // them, because a cluster may send them to every process of a job.
    std::vector<int> signals;
    std::function<void(const std::string&)> on_notice;
  };
  explicit PreemptionAnnouncer(Options options);

  PreemptionFile& file() { return file_; }

  // Announces the preemption: starts the command of --on-preempt. When the
  // command has ended, successfully or not, `done` is called once, from this or
  // another thread. `done` is not called after End. A failure of the command is
  // printed in one line and has no other effect.
  void Announce(const rendezvous::PreemptionNotice& notice,
                std::function<void()> done);

  // Kills the command of --on-preempt if it still runs, and prints `why`.
  void End(const std::string& why);

 private:
  const Options options_;
  PreemptionFile file_;
  TimedTask hook_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_PREEMPTION_PREEMPTION_ANNOUNCER_H_
