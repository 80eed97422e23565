#ifndef MUSTER_RENDEZVOUS_WIRE_RECORD_WIRE_H_
#define MUSTER_RENDEZVOUS_WIRE_RECORD_WIRE_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/time.h"
#include "rendezvous/job/job_record.h"

namespace muster::rendezvous {

// The person or host whose quota a job counts against: a principal or, if that
// is unknown, an IP address.
struct JobOwner {
  std::string principal;
  std::string peer;  // IP address of the owner; empty if `principal` is set
  auto operator<=>(const JobOwner&) const = default;
};

// The record of a job as it stands in the journal: the JobRecord, and fields
// that the job's driver (DrivenJob) adds.
struct KeptJob {
  JobRecord job;
  // wall-clock time since 1970 at which the record was written
  Duration written_at = Duration::zero();
  JobOwner owner;
  std::string channel_key;  // the round's Place::channel_key; empty: none
};

// Returns how long ago the record `kept` was written. `now`: the wall clock's
// time since 1970. Zero if the clock was set back since then.
Duration AgeOf(const KeptJob& kept, Duration now);

// Serialises the record of a job for the journal (proto/journal.proto).
std::string ToBytes(const KeptJob& kept);

// Parses a record. The returned record has passed CheckRecord.
//   DataLoss         the bytes are no record, or the record contradicts itself
//   InvalidArgument  a field is out of bounds; the message names it
absl::StatusOr<KeptJob> FromBytes(const std::string& bytes);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_WIRE_RECORD_WIRE_H_
