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

// What a worker left behind.
struct WorkerRemains {
  std::vector<std::string> stderr_tail;  // oldest first
  std::string error_file_path;           // empty: it was given none
  std::string expired_timer;  // the scope of the timer that had it signalled
  // ReadErrorFile's answer; NotFound where there is none.
  absl::StatusOr<ErrorFile> error_file = absl::NotFoundError("");
};

// The failure of a worker that ended, nothing where it ended with exit code 0.
// `place` has its node, ranks and time. The message is the error file's; else
// "killed by SIGSEGV (11)", with a hint where there is a usual cause; else
// "exit code 3", with the last line of stderr where that names an exception.
// All texts are cut to failure.h's bounds, between characters. Pure.
std::optional<rendezvous::Failure> DescribeEnd(rendezvous::Failure place,
                                               const WorkerEnded& event,
                                               const WorkerRemains& remains);

// The failure of a worker that never ran: exit code 127 where something is
// missing, else 126, as shells have it. Pure.
rendezvous::Failure DescribeNotStarted(rendezvous::Failure place,
                                       const WorkerNotStarted& event);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_FAILURES_DESCRIBE_EXIT_H_
