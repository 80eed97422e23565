#ifndef MUSTER_AGENT_GUARDIAN_GUARDIAN_HARNESS_H_
#define MUSTER_AGENT_GUARDIAN_GUARDIAN_HARNESS_H_

#include <memory>
#include <string>
#include <vector>

#include "agent/guardian/guardian.h"
#include "base/owned_fd.h"
#include "base/subprocess.h"

namespace muster::agent {

// Waits until `fd` is readable. Returns false after thirty seconds.
bool BecomesReadable(int fd);

// A pipe that a worker and all its descendants hold as stdout. The pipe carries
// their output, and its end of file shows that none of them is alive.
class OutputPipe {
 public:
  OutputPipe();
  // Opens a named pipe at `path`, for processes whose stdout the test cannot
  // choose.
  explicit OutputPipe(const std::string& path);

  int write_end() const { return write_.get(); }
  void CloseWriteEnd() { write_.Close(); }
  // Waits for the next line and returns it without its newline. If no line
  // arrives within thirty seconds, records a test failure and returns "".
  std::string Line();
  // Closes this process's write end. Then waits for end of file, that is, until
  // no other process holds the write end. Returns false if thirty seconds pass
  // without output and without end of file.
  bool EveryHolderGone();

 private:
  OwnedFd read_;
  OwnedFd write_;
  std::string buffer_;
};

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
