#ifndef MUSTER_AGENT_NCCL_ID_NCCL_ID_HOLDER_H_
#define MUSTER_AGENT_NCCL_ID_NCCL_ID_HOLDER_H_

#include <sys/types.h>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "base/owned_fd.h"
#include "base/time.h"

namespace muster::agent {

// The agent's end of one process that hosts an NCCL id's root. The destructor
// kills the process. It is not a worker, and the guardian's clean-up spares it.
class NcclIdChild {
 public:
  // Internal: names the step that failed.
  static absl::StatusOr<std::unique_ptr<NcclIdChild>> Start(
      const std::string& program);
  // Waits a short time for the process's end.
  ~NcclIdChild();
  NcclIdChild(const NcclIdChild&) = delete;
  NcclIdChild& operator=(const NcclIdChild&) = delete;

  pid_t pid() const { return pid_; }
  // Readable when the process has written or ended.
  int fd() const { return answer_.get(); }
  // How the process ended, such as "was killed by SIGKILL"; nullopt while it
  // runs. Call it after the answer is complete. Blocks only for the short time
  // until the process can be reaped.
  std::optional<std::string> End();

  // The process's output so far, at most kMaxAnswer bytes. `whole`: its line is
  // complete, or no more output will come. Does not block.
  struct Answer {
    std::string text;
    bool whole = false;
  };
  const Answer& Read();

 private:
  static constexpr size_t kMaxAnswer = 4096;

  NcclIdChild(pid_t pid, OwnedFd life, OwnedFd answer);

  const pid_t pid_;
  OwnedFd life_;    // the process's stdin, whose end ends the process
  OwnedFd answer_;  // the process's stdout: its end shows the process's end
  Answer heard_;
  std::string end_;  // set once the process has been reaped
};

class NcclIdChild;

// The program that makes NCCL ids for this node's agent, which is this program;
// empty if an id is of no use: no NVIDIA driver, all GPUs hidden, or the root
// is given by NCCL_COMM_ID. Only looks at /dev and the variables.
std::string NcclIdProgram(
    const std::map<std::string, std::string>& environment);

// The NCCL ids of this node's agent: one for the next round and one of the
// current round, each in a process of its own (see nccl_id_process.h) that
// lives until the id is released. The early death of such a process is noticed
// at once. Not thread-safe: for one thread, which must live as long as this
// object, because the processes die with the thread that started them.
class NcclIdHolder {
 public:
  // The longest time that a process may take to make an id.
  static constexpr Duration kCreationTimeout = std::chrono::seconds(10);
  // How many unused ids in a row may be lost before no more are made.
  static constexpr int kMaxLosses = 3;

  // `program`: the program that makes ids, see NcclIdProgram; empty: no ids are
  // made.
  explicit NcclIdHolder(std::string program);
  ~NcclIdHolder();
  NcclIdHolder(const NcclIdHolder&) = delete;
  NcclIdHolder& operator=(const NcclIdHolder&) = delete;

  // The result of making the id for the next round.
  struct Outcome {
    std::string id;   // hexadecimal digits, or empty
    std::string why;  // why there is no id, for the user; may be empty
  };

  // Starts making an id for the next round, unless one exists, is being made,
  // or has failed before. Returns an outcome if the start failed.
  std::optional<Outcome> Make(Instant now);
  // Readable when Look has news; -1 while there is no id for the next round.
  int fd() const;
  // The time at which Look must be called at the latest.
  std::optional<Instant> NextDeadline() const;
  // Returns the id once it is made. If the process of an unused id has died,
  // the outcome says so, and another id is being made.
  std::optional<Outcome> Look(Instant now);

  // Begins a round that uses `id`. If this is this node's id for the next
  // round, it is kept during the round; the id of the previous round is
  // released. Returns whether the id's root lives on this node.
  bool BeginRound(const std::string& id);
  // Readable when LookAtRoot has news; -1 while this node has no root of a
  // round.
  int root_fd() const;
  // Reports once that the root of the round's id has died, and how: "the
  // process that hosts the root of this round's NCCL id (pid 7) was killed by
  // SIGKILL".
  std::optional<std::string> LookAtRoot();
  // Releases the id for the next round.
  void Discard();

 private:
  Outcome Fail(std::string why);
  std::optional<Outcome> LookAtHeld(Instant now);

  const std::string program_;
  std::unique_ptr<NcclIdChild> next_;
  std::string next_id_;  // empty while the id is being made
  Instant deadline_;     // valid while the id is being made
  std::unique_ptr<NcclIdChild> in_use_;
  int losses_ = 0;  // ids lost since the last id was used
  bool failed_ = false;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_NCCL_ID_NCCL_ID_HOLDER_H_
