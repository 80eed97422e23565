#ifndef MUSTER_RENDEZVOUS_WIRE_RECORD_WIRE_H_
#define MUSTER_RENDEZVOUS_WIRE_RECORD_WIRE_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/time.h"
#include "rendezvous/job/job_record.h"

namespace muster::rendezvous {

// Whom a job counts for: a principal or, if that is unknown, an address.
struct JobOwner {
  std::string principal;
  std::string peer;  // empty if there is a principal
  auto operator<=>(const JobOwner&) const = default;
};

// A job's record, and what its driver adds.
struct KeptJob {
  JobRecord job;
  Duration written_at = Duration::zero();  // time since 1970
  JobOwner owner;
  std::string channel_key;  // Place::channel_key of the round; empty: none
};

// The bytes of a record, for a journal (proto/journal.proto).
std::string ToBytes(const KeptJob& kept);

// Errors: the bytes are damaged, or no such record; one sentence. A record that
// is returned has passed CheckRecord.
absl::StatusOr<KeptJob> FromBytes(const std::string& bytes);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_WIRE_RECORD_WIRE_H_
