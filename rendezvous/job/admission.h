#ifndef MUSTER_RENDEZVOUS_JOB_ADMISSION_H_
#define MUSTER_RENDEZVOUS_JOB_ADMISSION_H_

#include <optional>
#include <string>

#include "rendezvous/protocol/job_spec.h"
#include "rendezvous/protocol/report.h"

namespace muster {

// The highest round that a node may claim to have run: far above any job's,
// and low enough that counting on from it never overflows.
inline constexpr int kMostRounds = 1'000'000'000;

// Why a report cannot be taken whatever the job's state: another protocol
// version, an empty or overlong name, numbers out of bounds, an invalid spec.
// A sentence for the person who started that node; nothing if it is sound.
std::optional<std::string> Unsound(const Report& report);

// Why a sound report's node may not join a job that runs by `spec`: another
// --nnodes, --max-restarts or command, a node rank that the world never has.
std::optional<Objection> Unfit(const JobSpec& spec, const Report& report);

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_JOB_ADMISSION_H_
