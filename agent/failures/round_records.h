#ifndef MUSTER_AGENT_FAILURES_ROUND_RECORDS_H_
#define MUSTER_AGENT_FAILURES_ROUND_RECORDS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "rendezvous/protocol/directive.h"
#include "rendezvous/protocol/failure.h"

namespace muster::agent {

// Removes old records from `folder` before the round of `place` starts, because
// `launch inspect` would take them for records of this round. Removed are:
// - the flight records (.ring and .json, the last operations of each rank) of
//   this node's `workers` ranks;
// - this node's file of worker exits (WorkerEndsPath);
// - the files of ranks and nodes that the world of `place` does not have.
//
// Files of other nodes in this world are kept: the nodes may share the folder,
// and another node may have begun the round already. Files that cannot be
// removed are kept.
void RemoveOldRecords(const std::string& folder, const rendezvous::Place& place,
                      int workers);

// A killed process cannot record its own end. So when a round breaks, each node
// writes the exits of its workers to a file. `launch inspect` reads this file
// together with the workers' flight records.

// The path of the file with the exits of this node's workers:
// <folder>/workers.<group rank>.json
std::string WorkerEndsPath(const std::string& folder,
                           const rendezvous::Place& place);

// The text of the file at WorkerEndsPath. For each worker it contains the rank,
// host, process, exit code or signal, time and message. It also says how the
// worker ended: "killed", "exited", "hung", "not started" or "stopped". Pure.
std::string WorkerEndsJson(const rendezvous::Place& place,
                           const std::vector<rendezvous::Failure>& ends);

// Writes `text` to `path` atomically. Unavailable: the write failed; the
// message has path and errno text.
absl::Status WriteWorkerEnds(const std::string& path, const std::string& text);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_FAILURES_ROUND_RECORDS_H_
