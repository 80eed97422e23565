#ifndef MUSTER_RENDEZVOUS_JOURNAL_JOURNAL_H_
#define MUSTER_RENDEZVOUS_JOURNAL_JOURNAL_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "base/file_queue.h"
#include "base/time.h"
#include "rendezvous/journal/pending_records.h"
#include "rendezvous/journal/record_store.h"

namespace muster::rendezvous {

// Stores one record for each job in a SQLite file or on another medium, so that
// the next coordinator can continue the jobs.
//
// Only Open and the destructor wait for the medium, for a bounded time. Records
// that are queued during a write are written together in the next transaction,
// so many records cost few fsyncs.
//
// If the medium hangs, is full or fails, trouble() returns the reason. Once
// writing works again, the newest record of each job is written. With
// OnTrouble::kRelease, jobs continue in the meantime: Put then tells its caller
// that a record is stored (calls `done`) although the record is not durable.
//
// Thread-safe.
class Journal : public RecordStore {
 public:
  struct Limits : PendingRecords::Limits {
    // Longest time for which Open waits for the file system.
    Duration open_within = std::chrono::seconds(30);
    // Longest time for which the destructor waits until the last records are
    // written and the file is closed.
    Duration close_within = std::chrono::seconds(5);
  };
  using Trouble = JournalTrouble;

  // Opens FOLDER/coordinator.journal, which only one process can have open.
  // Creates the folder (mode 0700) and the file (mode 0600, because records
  // contain secret keys) if missing.
  //
  // An error leaves the file unchanged, and is one sentence that names the path
  // and says what to do. The codes are those of JournalFile::Open, and
  //   DeadlineExceeded   the file system does not answer
  //   ResourceExhausted  no thread can be started
  static absl::StatusOr<std::unique_ptr<Journal>> Open(
      const std::string& folder, uint64_t least_epoch);
  static absl::StatusOr<std::unique_ptr<Journal>> Open(
      const std::string& folder, uint64_t least_epoch, const Limits& limits);
  // Opens a journal on another medium. The journal's thread calls `open`.
  // `name`: the medium's name, for messages. Returns the errors of `open`;
  // DeadlineExceeded: the medium does not answer; ResourceExhausted: no thread
  // can be started.
  static absl::StatusOr<std::unique_ptr<Journal>> OpenOn(
      const std::string& name,
      std::function<absl::StatusOr<std::unique_ptr<JournalBackend>>()> open,
      const Limits& limits);
  // Writes the queued records, and calls each callback `done` of Put that has
  // not been called yet. If the storage medium (a file or etcd) hangs or a
  // write fails, the queued records are lost.
  ~Journal() override;

  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // Returns the records that Open found, by run id; empty after the first call.
  std::map<std::string, std::string> TakeRecords();
  // The number of this run of the coordinator (JournalBackend::epoch). If the
  // medium is a file: the number of the previous run plus one, and at least the
  // `least_epoch` of Open.
  uint64_t epoch() const { return epoch_; }

  // Queues a record and returns. Calls `done` once the record is durable. With
  // OnTrouble::kRelease, also calls `done` as soon as trouble() has a value.
  void Put(const std::string& run_id, std::string record,
           std::function<void()> done) override;
  void Remove(const std::string& run_id) override;

  // The reason why no records are durable at present. nullopt: every record
  // whose `done` was called is durable, unless TroubleOf has a value for its
  // job.
  std::optional<Trouble> trouble() const;
  // The reason why records of the job are not durable: trouble(), or the reason
  // why the medium cannot store the job's newest record
  // (JournalBackend::Write). In the second case the next coordinator will know
  // the job only from the reports of its nodes.
  std::optional<Trouble> TroubleOf(const std::string& run_id) const;

 private:
  struct State;

  Journal(const std::string& path, const Limits& limits);

  const std::string path_;
  const Limits limits_;
  uint64_t epoch_ = 0;
  // The records that Open found, until TakeRecords returns them; guarded by
  // state_->mutex.
  std::map<std::string, std::string> records_;
  // State that is shared with the thread of `queue_`, which outlives the
  // journal if the medium hangs.
  const std::shared_ptr<State> state_;
  // The queue, with one thread, that reads and writes the journal's file or
  // another medium (OpenOn).
  FileQueue queue_;
  // The thread that calls the `done` callbacks and detects writes that hang.
  std::thread caller_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOURNAL_JOURNAL_H_
