#ifndef MUSTER_RENDEZVOUS_JOURNAL_JOURNAL_BACKEND_H_
#define MUSTER_RENDEZVOUS_JOURNAL_JOURNAL_BACKEND_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "rendezvous/journal/pending_records.h"

namespace muster::rendezvous {

// The medium on which a journal keeps its records. Each call may block for as
// long as the medium does. Not thread-safe.
class JournalBackend {
 public:
  virtual ~JournalBackend() = default;

  // Writes `batch`. OK: all changes are durable, except for the records in the
  // result, which are too large for the medium. Instead, the former record of
  // the same job is removed durably, so that no later coordinator continues the
  // job from an old state.
  //
  // An error is a clause that names the medium: "cannot write …: the disk is
  // full". After an error the changes may or may not be durable, and the caller
  // writes them again.
  virtual absl::StatusOr<PendingRecords::Refused> Write(
      const PendingRecords::Batch& batch) = 0;
  // Returns the records found when the medium was opened, by run id; empty
  // after the first call.
  virtual std::map<std::string, std::string> TakeRecords() = 0;
  // The number of this run of the coordinator, greater than those of all
  // earlier runs on this medium. The number is stored durably.
  virtual uint64_t epoch() const = 0;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOURNAL_JOURNAL_BACKEND_H_
