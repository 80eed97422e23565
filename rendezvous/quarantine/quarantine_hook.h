#ifndef MUSTER_RENDEZVOUS_QUARANTINE_QUARANTINE_HOOK_H_
#define MUSTER_RENDEZVOUS_QUARANTINE_QUARANTINE_HOOK_H_

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/owned_fd.h"
#include "base/time.h"
#include "rendezvous/protocol/node_fault.h"

namespace muster::rendezvous {

// Runs the user's command for each machine that is quarantined
// (--on-quarantine), one at a time, in a thread of its own. The command is run
// by `sh -c` with these variables:
//
//   MUSTER_NODE     the machine's host name
//   MUSTER_ADDRESS  its IP address; empty: unknown
//   MUSTER_REASON   its newest fault, one line without control characters
//   MUSTER_SCORE    its score
//   MUSTER_RUN_ID   the job of the newest fault
//
// The host name and the fault are texts from the nodes: the command must quote
// these two variables. A command that runs longer than the time limit is killed
// with its process group. Thread-safe.
class QuarantineHook {
 public:
  struct Options {
    std::string command;
    Duration timeout = std::chrono::seconds(60);
    // Called with a sentence about each command that failed or was dropped. The
    // call comes from the hook's thread if the command failed, and from the
    // thread that calls Run if the command was dropped.
    std::function<void(const std::string&)> say;
  };
  // Maximum number of commands in the queue, without the running command. If
  // the queue is full, Run drops the new command and calls `say`.
  static constexpr size_t kMaxWaiting = 64;

  explicit QuarantineHook(Options options);
  // Kills the running command, and drops the commands in the queue.
  ~QuarantineHook();
  QuarantineHook(const QuarantineHook&) = delete;
  QuarantineHook& operator=(const QuarantineHook&) = delete;

  // Queues the user's command (--on-quarantine) for one machine, and returns at
  // once.
  void Run(const HostKey& key, const HostJudgement& judgement,
           const std::string& run_id);
  // Waits until no command runs or waits, but at most for `timeout`.
  void Finish(Duration timeout);

 private:
  struct Call {
    std::string host;
    std::vector<std::string> environment;
  };
  void Work();
  void Perform(const Call& call);

  const Options options_;
  OwnedFd cancel_;  // eventfd; readable once the hook is destroyed
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Call> waiting_;
  bool runs_ = false;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_QUARANTINE_QUARANTINE_HOOK_H_
