#ifndef MUSTER_RENDEZVOUS_WIRE_RECORD_WIRE_H_
#define MUSTER_RENDEZVOUS_WIRE_RECORD_WIRE_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/time.h"
#include "rendezvous/job/job_record.h"

namespace muster::rendezvous {

// The account to which a job is charged: a principal or, if that is unknown, an
// IP address.
struct JobOwner {
  std::string principal;
  std::string peer;  // IP address; empty if `principal` is set
  auto operator<=>(const JobOwner&) const = default;
};

// A job's record with the fields that its driver (DrivenJob) adds.
struct KeptJob {
  JobRecord job;
  Duration written_at = Duration::zero();  // wall-clock time since 1970
  JobOwner owner;
  std::string channel_key;  // the round's Place::channel_key; empty: none
};

// Returns the time from the writing of the record until `now`, the wall clock's
// time since 1970; zero if the clock was set back.
Duration AgeOf(const KeptJob& kept, Duration now);

// Serialises a record for a journal (proto/journal.proto).
std::string ToBytes(const KeptJob& kept);

// Parses a record. The returned record has passed CheckRecord.
//   DataLoss         the bytes are no record, or the record contradicts itself
//   InvalidArgument  a field is out of bounds; the message names it
absl::StatusOr<KeptJob> FromBytes(const std::string& bytes);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_WIRE_RECORD_WIRE_H_
