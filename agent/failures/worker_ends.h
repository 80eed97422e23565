#ifndef MUSTER_AGENT_FAILURES_WORKER_ENDS_H_
#define MUSTER_AGENT_FAILURES_WORKER_ENDS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "rendezvous/protocol/directive.h"
#include "rendezvous/protocol/failure.h"

namespace muster::agent {

// The ends of one node's workers in a round that broke, for `launch inspect` to
// read with their flight records. A killed process cannot record its own end.

// The path of the file: <folder>/workers.<group rank>.json
std::string WorkerEndsPath(const std::string& folder,
                           const rendezvous::Place& place);

// The file's text: for each worker its rank, host, process, how it ended
// ("killed", "exited", "hung", "not started", "stopped"), exit code or signal,
// time and message. Pure.
std::string WorkerEndsJson(const rendezvous::Place& place,
                           const std::vector<rendezvous::Failure>& ends);

// Writes `text` to `path` atomically. Unavailable, with path and errno text.
absl::Status WriteWorkerEnds(const std::string& path, const std::string& text);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_FAILURES_WORKER_ENDS_H_
