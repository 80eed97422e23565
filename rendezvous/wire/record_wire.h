#ifndef MUSTER_RENDEZVOUS_WIRE_RECORD_WIRE_H_
#define MUSTER_RENDEZVOUS_WIRE_RECORD_WIRE_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/time.h"
#include "rendezvous/job/job_record.h"

namespace muster::rendezvous {

// The account to which a job is charged: a principal or, if the principal is
// unknown, an IP address.
struct JobOwner {
  std::string principal;
  std::string peer;  // empty if there is a principal
  auto operator<=>(const JobOwner&) const = default;
};

// A job's record, and the fields that the job's driver adds.
struct KeptJob {
  JobRecord job;
  Duration written_at = Duration::zero();  // time since 1970
  JobOwner owner;
  std::string channel_key;  // Place::channel_key of the round; empty: none
};

// The bytes of a record, for a journal (proto/journal.proto).
std::string ToBytes(const KeptJob& kept);

// Reads the bytes of a record. The returned record has passed CheckRecord.
//   DataLoss         the bytes are no record, or the record is contradictory
//   InvalidArgument  a field is outside of its bounds; names the field
absl::StatusOr<KeptJob> FromBytes(const std::string& bytes);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_WIRE_RECORD_WIRE_H_
