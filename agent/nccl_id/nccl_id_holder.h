#ifndef MUSTER_AGENT_NCCL_ID_NCCL_ID_HOLDER_H_
#define MUSTER_AGENT_NCCL_ID_NCCL_ID_HOLDER_H_

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/time.h"

namespace muster::agent {

class NcclIdChild;

// The program that makes NCCL ids for this node's agent: this one; empty where
// none can be of use: no NVIDIA driver, every GPU hidden, or NCCL_COMM_ID names
// the root already. Costs no more than a look at /dev.
std::string NcclIdProgram(
    const std::map<std::string, std::string>& environment);

// The NCCL ids of this node's agent: one for the next world, and the one of the
// world that runs, each in a process of its own (see nccl_id_process.h) that
// lives until it is let go of. One that dies before is missed at once. Not
// thread-safe: for one thread, which must live as long as this, since the
// processes die with the thread that started them.
class NcclIdHolder {
 public:
  // How long a process may take.
  static constexpr Duration kPatience = std::chrono::seconds(10);
  // How many ids may be lost, one after the other, before any is used.
  static constexpr int kMaxLosses = 3;

  // `program`: see NcclIdProgram; empty: nothing ever happens.
  explicit NcclIdHolder(std::string program);
  ~NcclIdHolder();
  NcclIdHolder(const NcclIdHolder&) = delete;
  NcclIdHolder& operator=(const NcclIdHolder&) = delete;

  // What has become of the id for the next world.
  struct Outcome {
    std::string id;   // hexadecimal digits, or
    std::string why;  // why there is none (any more), for a person; may be
                      // empty: not worth a word
  };

  // Begins to make an id for the next world, unless there is one, or one is
  // being made, or it has failed before. An outcome at once: it failed now.
  std::optional<Outcome> Make(Instant now);
  // Readable when Look has news; -1 while there is no id for the next world.
  int fd() const;
  // When Look must be called at the latest.
  std::optional<Instant> NextDeadline() const;
  // Where the process of an id that nobody has used yet has died, the outcome
  // says so, and another id is being made.
  std::optional<Outcome> Look(Instant now);

  // A round begins whose world uses `id`: if that is the one for the next
  // world, it is kept for as long as the round; the one before is let go of.
  // Whether the id's root is here and lives.
  bool BeginRound(const std::string& id);
  // Readable when LookAtRoot has news; -1 while no root of a round is here.
  int root_fd() const;
  // The root of the round's id has died, and how: "the process that hosts the
  // root of this round's NCCL id (pid 7) was killed by SIGKILL". Once.
  std::optional<std::string> LookAtRoot();
  // Lets go of the one for the next world.
  void Discard();

 private:
  Outcome Fail(std::string why);
  std::optional<Outcome> LookAtHeld(Instant now);

  const std::string program_;
  std::unique_ptr<NcclIdChild> next_;
  std::string next_id_;  // empty while it is being made
  Instant deadline_;     // while it is
  std::unique_ptr<NcclIdChild> in_use_;
  int losses_ = 0;  // since an id was used
  bool failed_ = false;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_NCCL_ID_NCCL_ID_HOLDER_H_
