#ifndef MUSTER_AGENT_GUARDIAN_GUARDIAN_HARNESS_H_
#define MUSTER_AGENT_GUARDIAN_GUARDIAN_HARNESS_H_

#include <memory>
#include <string>
#include <vector>

#include "agent/guardian/guardian.h"
#include "agent/guardian/output_pipe.h"
#include "base/owned_fd.h"
#include "base/subprocess.h"

namespace muster::agent {

// The path of the test worker (staged_worker.cc), which performs the steps that
// its arguments name.
std::string StagedWorker();

// A WorkerSpec of the test worker that performs `acts`, with `out` as its
// stdout.
WorkerSpec Staged(int local_rank, std::vector<std::string> acts,
                  const OutputPipe& out);

// A reader of the guardian's events. Next waits up to thirty seconds for an
// event; then it records a test failure and returns GuardianLost with "no event
// came".
class EventReader {
 public:
  explicit EventReader(Guardian* guardian) : guardian_(guardian) {}
  GuardianEvent Next();
  // Returns the first event of type Kind; the events before it are appended to
  // `before`. If the guardian is lost, returns an empty Kind.
  template <typename Kind>
  Kind Await(std::vector<GuardianEvent>* before = nullptr) {
    while (true) {
      GuardianEvent event = Next();
      if (auto* found = std::get_if<Kind>(&event)) return *found;
      if (std::holds_alternative<GuardianLost>(event)) return Kind();
      if (before != nullptr) before->push_back(event);
    }
  }

 private:
  Guardian* guardian_;
  std::vector<GuardianEvent> events_;
};

// Waits until the process has exited; a zombie counts as exited. Returns false
// after thirty seconds.
bool Ends(const OwnedFd& pidfd);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GUARDIAN_GUARDIAN_HARNESS_H_
