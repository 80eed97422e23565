#ifndef MUSTER_RENDEZVOUS_JOB_ADMISSION_H_
#define MUSTER_RENDEZVOUS_JOB_ADMISSION_H_

#include <cstdint>
#include <optional>
#include <string>

#include "rendezvous/protocol/job_spec.h"
#include "rendezvous/protocol/report.h"

namespace muster::rendezvous {

// Upper bound of the round number that a report may name. A restarted
// coordinator knows the rounds of earlier coordinators only from the nodes'
// reports, so the bound must be above the round number of every real job: a
// million restarts with the longest back-off take a year.
inline constexpr int kMaxClaimedRound = 1'000'000;

// Checks a report regardless of the job's state: the protocol version, the
// length of names, the ranges of numbers and the spec. Returns nullopt if the
// report is valid; else a sentence for the person who started the reporting
// node.
std::optional<std::string> Unsound(const Report& report);

// Checks the round numbers in a report. `newest`: the newest round that this
// coordinator has begun (0: none). Returns a sentence if no coordinator of this
// job can have begun a round that the report names, else nullopt. Without this
// check a single report could exhaust the round numbers: a new round's number
// is higher than every number that a node has reported.
std::optional<std::string> ImpossibleRound(const Report& report, int newest);

// The node that owns a stream: the node of the stream's first valid report. The
// stream may not carry reports of another node.
struct StreamOwner {
  std::string run_id;
  std::string node_id;
  uint64_t incarnation = 0;
};
StreamOwner OwnerOf(const Report& report);

// Returns a sentence if `report` came on the stream of another node, else
// nullopt. Without this check one connection could join as any number of nodes.
// The limit on connections would then not limit the nodes.
std::optional<std::string> ForeignReport(const StreamOwner& owner,
                                         const Report& report);

// Whether `report` contains the place key `place_key`, the secret of the agent
// that holds the place. An agent of an older version has an empty key, which
// every report matches. Compares in constant time.
bool ShowsPlaceKey(const Report& report, const std::string& place_key);

// Checks whether the node of a valid report may join a job with `spec`;
// nullopt: it may. Returns an objection if the node's --nnodes, --max-restarts
// or command differ from the job's, or if its node rank is outside of the
// world.
std::optional<Objection> Incompatible(const JobSpec& spec,
                                      const Report& report);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOB_ADMISSION_H_
