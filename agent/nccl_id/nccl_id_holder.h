#ifndef MUSTER_AGENT_NCCL_ID_NCCL_ID_HOLDER_H_
#define MUSTER_AGENT_NCCL_ID_NCCL_ID_HOLDER_H_

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "agent/commands/child_program.h"
#include "base/time.h"

namespace muster::agent {

// The path of the program that uses this node's GPUs for the agent. This is the
// agent's own program file, /proc/self/exe, to be started as a child process.
// Empty if the node has no NVIDIA driver, or all GPUs are hidden. Examines only
// /dev and the environment variables.
std::string GpuProgram(const std::map<std::string, std::string>& environment);

// Returns the path of the program that makes NCCL ids for this node's agent, as
// GpuProgram does. Returns "", so that no ids are made, if the node has no
// usable GPU, or if the variable NCCL_COMM_ID is set. With this variable the
// user gives NCCL the address of the root, and NCCL would ignore the agent's
// id.
std::string NcclIdProgram(
    const std::map<std::string, std::string>& environment);

// The NCCL ids of this node's agent: one for the next round and one of the
// current round. Each id's root is a process of its own (see nccl_id_process.h)
// that lives until the id is released. The early death of such a process is
// noticed at once. Not thread-safe: used by one thread only, which must live as
// long as this object, because the processes die with the thread that started
// them.
class NcclIdHolder {
 public:
  // The longest time that a process may take to make an id.
  static constexpr Duration kCreationTimeout = std::chrono::seconds(10);
  // If the processes of this many unused NCCL ids die in succession, no more
  // ids are made.
  static constexpr int kMaxLosses = 3;

  // `program` is the program that makes ids, see NcclIdProgram; empty: no ids
  // are made.
  explicit NcclIdHolder(std::string program);
  ~NcclIdHolder();
  NcclIdHolder(const NcclIdHolder&) = delete;
  NcclIdHolder& operator=(const NcclIdHolder&) = delete;

  // The result of making the id for the next round.
  struct Outcome {
    std::string id;   // the id in hexadecimal digits; empty: there is no id
    std::string why;  // why there is no id, for the user; may be empty
  };

  // Starts making an id for the next round, unless an id exists or is being
  // made, or an earlier attempt has failed. Returns an outcome if the start
  // failed.
  std::optional<Outcome> Make(Instant now);
  // A descriptor that is readable when Look must be called; -1 if no id for the
  // next round exists or is being made.
  int fd() const;
  // The latest time for the next call of Look.
  std::optional<Instant> NextDeadline() const;
  // Returns the id once it is made. Returns an outcome without an id if making
  // it has failed, or if the process of an unused id has died; in the second
  // case also starts making another id.
  std::optional<Outcome> Look(Instant now);

  // Begins a round that uses the NCCL id `id`, and releases the id of the
  // previous round. If `id` is the id that this node has made for the next
  // round, the process that hosts its root is kept during the round, and the
  // result is true.
  bool BeginRound(const std::string& id);
  // A descriptor that is readable when LookAtRoot must be called. -1: no
  // process of this node hosts the root of a round's NCCL id.
  int root_fd() const;
  // The first call after the death of the process that hosts the root of the
  // round's NCCL id says how the process died: "the process that hosts the root
  // of this round's NCCL id (pid 7) was killed by SIGKILL". Any other call
  // returns nullopt.
  std::optional<std::string> LookAtRoot();
  // Releases the NCCL id for the next round, and kills the process that hosts
  // the id's root.
  void Discard();

 private:
  Outcome Fail(std::string why);
  std::optional<Outcome> LookAtHeld(Instant now);

  const std::string program_;
  std::unique_ptr<ChildProgram> next_;
  // the id for the next round; empty while it is being made
  std::string next_id_;
  // deadline for making the id; valid while it is being made
  Instant deadline_;
  std::unique_ptr<ChildProgram> in_use_;
  // number of unused NCCL ids that were lost in succession because the process
  // that made the id died; reset to 0 when a round uses an id
  int losses_ = 0;
  bool failed_ = false;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_NCCL_ID_NCCL_ID_HOLDER_H_
