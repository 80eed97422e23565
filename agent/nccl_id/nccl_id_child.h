#ifndef MUSTER_AGENT_NCCL_ID_NCCL_ID_CHILD_H_
#define MUSTER_AGENT_NCCL_ID_NCCL_ID_CHILD_H_

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "base/owned_fd.h"

namespace muster::agent {

// The agent's end of one process that hosts an NCCL id's root; ends it when it
// goes. No worker: the guardian's sweeps spare it.
class NcclIdChild {
 public:
  // Internal: what failed.
  static absl::StatusOr<std::unique_ptr<NcclIdChild>> Start(
      const std::string& program);
  // Waits a moment for a process that is slow to die.
  ~NcclIdChild();
  NcclIdChild(const NcclIdChild&) = delete;
  NcclIdChild& operator=(const NcclIdChild&) = delete;

  pid_t pid() const { return pid_; }
  // Readable when it has said something, or has ended.
  int fd() const { return answer_.get(); }
  // "was killed by SIGKILL" once it has ended. For one whose answer is whole.
  // Does not block, but for the moment that the kernel takes to bury it.
  std::optional<std::string> End();

  // What it said so far, at most kMaxAnswer bytes; `whole` once the line is
  // complete or no more will come. Does not block.
  struct Answer {
    std::string text;
    bool whole = false;
  };
  const Answer& Read();

 private:
  static constexpr size_t kMaxAnswer = 4096;

  NcclIdChild(pid_t pid, OwnedFd life, OwnedFd answer);

  const pid_t pid_;
  OwnedFd life_;    // its stdin: it ends with it
  OwnedFd answer_;  // it keeps its end open for as long as it lives
  Answer heard_;
  std::string end_;  // once it has been reaped
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_NCCL_ID_NCCL_ID_CHILD_H_
