#ifndef MUSTER_AGENT_NCCL_ID_NCCL_ID_CHILD_H_
#define MUSTER_AGENT_NCCL_ID_NCCL_ID_CHILD_H_

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "base/owned_fd.h"

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

  // The process's output so far, at most kMaxAnswer bytes; `whole` once the
  // line is complete or no more will come. Does not block.
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
  OwnedFd answer_;  // the process keeps its end open while it lives
  Answer heard_;
  std::string end_;  // set once the process has been reaped
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_NCCL_ID_NCCL_ID_CHILD_H_
