#ifndef MUSTER_AGENT_FAILURES_DESCRIBE_EXIT_H_
#define MUSTER_AGENT_FAILURES_DESCRIBE_EXIT_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/failures/error_file.h"
#include "agent/guardian/guardian.h"
#include "rendezvous/protocol/failure.h"

namespace muster::agent {

// The evidence that a worker left when it exited. DescribeEnd finds the reason
// for the exit in it.
struct WorkerRemains {
  // the last lines of stderr, oldest first
  std::vector<std::string> stderr_tail;
  std::string error_file_path;  // empty: the worker had no error file
  // name (scope) of the expired timer (FileTimers) because of which the agent
  // sent a signal to the worker; empty: none
  std::string expired_timer;
  // the result of ReadErrorFile; NotFound: no file
  absl::StatusOr<ErrorFile> error_file = absl::NotFoundError("");
};

// The failure of a worker that exited; nullopt after exit code 0. `place`
// contains the worker's node and ranks, and the time. The message is the first
// of these that exists:
// - the text of the error file
// - "killed by SIGSEGV (11)", with a hint at a usual cause
// - "exit code 3", with the last line of stderr if this line names an exception
//
// All texts are cut to the limits in failure.h, between characters. Pure.
std::optional<rendezvous::Failure> DescribeEnd(rendezvous::Failure place,
                                               const WorkerEnded& event,
                                               const WorkerRemains& remains);

// The failure of a worker that could not be started: exit code 127 if a file is
// missing, else 126, as in shells. Pure.
rendezvous::Failure DescribeNotStarted(rendezvous::Failure place,
                                       const WorkerNotStarted& event);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_FAILURES_DESCRIBE_EXIT_H_
