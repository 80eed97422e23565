#ifndef MUSTER_RENDEZVOUS_JOURNAL_RECORD_STORE_H_
#define MUSTER_RENDEZVOUS_JOURNAL_RECORD_STORE_H_

#include <functional>
#include <string>

namespace muster::rendezvous {

// Keeps the newest record of each job, for the next coordinator. A record is a
// string of any bytes. No call waits for the medium. Thread-safe.
class RecordStore {
 public:
  virtual ~RecordStore() = default;

  // Queues `record` as the newest of its job, and returns at once. `done` is
  // called once, by a thread of the store and never from within Put, in the
  // order of the calls of Put over all jobs: once this record or a newer one of
  // its job is durable, or as soon as the store cannot make records durable.
  // `done` may be empty, may call any function of the store, and must not
  // destroy the store.
  virtual void Put(const std::string& run_id, std::string record,
                   std::function<void()> done) = 0;
  // Queues the removal of the job's record, and returns at once.
  virtual void Remove(const std::string& run_id) = 0;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOURNAL_RECORD_STORE_H_
