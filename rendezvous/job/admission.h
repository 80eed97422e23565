#ifndef MUSTER_RENDEZVOUS_JOB_ADMISSION_H_
#define MUSTER_RENDEZVOUS_JOB_ADMISSION_H_

#include <optional>
#include <string>

#include "rendezvous/protocol/job_spec.h"
#include "rendezvous/protocol/report.h"

namespace muster::rendezvous {

// Upper bound of the round number that a node may report: far above any real
// job's, and low enough that later rounds do not overflow an int.
inline constexpr int kMaxRounds = 1'000'000'000;

// Checks a report regardless of the job's state: the protocol version, the
// length of names, the ranges of numbers and the spec. Returns a sentence for
// the person who started that node, or nullopt if the report is valid.
std::optional<std::string> Unsound(const Report& report);

// Checks whether the node of a valid report may join a job with `spec`. Returns
// an objection if its --nnodes, --max-restarts or command differ, or if its
// node rank is outside of the world; else nullopt.
std::optional<Objection> Incompatible(const JobSpec& spec,
                                      const Report& report);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOB_ADMISSION_H_
