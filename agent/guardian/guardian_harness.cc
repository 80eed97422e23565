#include "agent/guardian/guardian_harness.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace muster::agent {

std::string StagedWorker() { return "agent/guardian/staged_worker"; }

WorkerSpec Staged(int local_rank, std::vector<std::string> acts,
                  const OutputPipe& out) {
  WorkerSpec spec;
  spec.local_rank = local_rank;
  spec.argv = std::move(acts);
  spec.argv.insert(spec.argv.begin(), StagedWorker());
  spec.stdout_fd = out.write_end();
  spec.stderr_fd = STDERR_FILENO;
  return spec;
}

GuardianEvent EventReader::Next() {
  while (events_.empty()) {
    if (!BecomesReadable(guardian_->fd())) {
      ADD_FAILURE() << "no event came";
      return GuardianLost{"no event came"};
    }
    events_ = guardian_->Next();
  }
  GuardianEvent event = events_.front();
  events_.erase(events_.begin());
  return event;
}

bool Ends(const OwnedFd& pidfd) { return BecomesReadable(pidfd.get()); }

}  // namespace muster::agent
