#ifndef MUSTER_RENDEZVOUS_JOURNAL_RECORD_STORE_H_
#define MUSTER_RENDEZVOUS_JOURNAL_RECORD_STORE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "rendezvous/journal/pending_records.h"

namespace muster::rendezvous {

// The key under which a store keeps what the coordinator knows about machines:
// their faults, and the orders of operators (HostWatch). No run id contains a
// control character, so no job's record has this key.
inline constexpr char kNodeMemoryKey[] = "\x01nodes";

// Stores the newest record of each job, for the next coordinator. A record is a
// string of arbitrary bytes. No call waits for the storage medium (a file or
// etcd). Thread-safe.
class RecordStore {
 public:
  virtual ~RecordStore() = default;

  // Queues `record` as the newest record of its job, and returns at once. Calls
  // `done` once, when this record or a newer record of the job is durable. With
  // OnTrouble::kRelease, a Journal also calls `done` as soon as it cannot make
  // records durable.
  //
  // `done` may be empty. `done` is called from a thread of the store, never
  // from within Put. The calls of `done` have the order of the calls of Put,
  // over all jobs. `done` may call any function of the store, but must not
  // destroy it.
  virtual void Put(const std::string& run_id, std::string record,
                   std::function<void()> done) = 0;
  // Queues the removal of a job's record, and returns at once.
  virtual void Remove(const std::string& run_id) = 0;
};

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

#endif  // MUSTER_RENDEZVOUS_JOURNAL_RECORD_STORE_H_
