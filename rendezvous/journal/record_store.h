#ifndef MUSTER_RENDEZVOUS_JOURNAL_RECORD_STORE_H_
#define MUSTER_RENDEZVOUS_JOURNAL_RECORD_STORE_H_

#include <functional>
#include <string>

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

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOURNAL_RECORD_STORE_H_
