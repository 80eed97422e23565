#ifndef MUSTER_AGENT_FAILURES_WORKER_ENDS_H_
#define MUSTER_AGENT_FAILURES_WORKER_ENDS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "rendezvous/protocol/directive.h"
#include "rendezvous/protocol/failure.h"

namespace muster::agent {

// How the workers of one node ended in a round that broke, for `launch inspect`
// to read beside their flight recorders: a process that was killed cannot tell
// that itself, nor one that was stopped that it was well.

// <folder>/workers.<group rank>.json
std::string WorkerEndsPath(const std::string& folder,
                           const rendezvous::Place& place);

// The file's text: of each end its rank, host, process, how ("killed",
// "exited", "hung", "not started", "stopped"), exit code or signal, time and
// message. Pure.
std::string WorkerEndsJson(const rendezvous::Place& place,
                           const std::vector<rendezvous::Failure>& ends);

// Writes `text` to `path`, whole or not at all. Unavailable, with path and
// errno text.
absl::Status WriteWorkerEnds(const std::string& path, const std::string& text);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_FAILURES_WORKER_ENDS_H_
