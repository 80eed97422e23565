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

// The path of the worker that does what its arguments say.
std::string StagedWorker();

// A spec of the staged worker, its stdout going to `out`.
WorkerSpec Staged(int local_rank, std::vector<std::string> acts,
                  const OutputPipe& out);

// The guardian's next event; waits for it. GuardianLost with "no event came"
// and a test failure if the deadline passes.
class EventReader {
 public:
  explicit EventReader(Guardian* guardian) : guardian_(guardian) {}
  GuardianEvent Next();
  // Events up to and with the first of that kind.
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

// Whether the process has ended (a zombie has) before the deadline.
bool Ends(const OwnedFd& pidfd);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GUARDIAN_GUARDIAN_HARNESS_H_
