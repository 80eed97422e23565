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

// Keeps one record for each job in a SQLite file, so that a restarted
// coordinator goes on with its jobs.
//
// Only Open and the destructor wait for the file system, for a bounded time.
// Records that are queued during a write are written together by the next
// transaction: many records cost few fsyncs.
//
// If the disk hangs, is full or fails, the jobs go on: nothing waits for it any
// longer, trouble() says why, and the newest record of each job is written once
// writing works again.
//
// Thread-safe.
class Journal : public RecordStore {
 public:
  struct Limits : PendingRecords::Limits {
    // How long Open waits for a file system that does not answer.
    Duration open_within = std::chrono::seconds(30);
    // How long the destructor waits for a file system that does not answer, and
    // in all.
    Duration close_within = std::chrono::seconds(5);
  };
  using Trouble = JournalTrouble;

  // Opens FOLDER/coordinator.journal, which only one process can have open. The
  // folder (mode 0700) and the file (mode 0600: records hold secret keys) are
  // created if missing.
  //
  // An error is one sentence that names the path and says what to do; it has
  // the codes of JournalFile::Open, and leaves the file as it was.
  // DeadlineExceeded: the file system does not answer. ResourceExhausted also:
  // no thread can be started.
  static absl::StatusOr<std::unique_ptr<Journal>> Open(
      const std::string& folder, uint64_t least_epoch);
  static absl::StatusOr<std::unique_ptr<Journal>> Open(
      const std::string& folder, uint64_t least_epoch, const Limits& limits);
  // Writes what is queued, and calls each `done` that has not been called. If
  // the disk hangs or a last attempt fails, what is queued is lost.
  ~Journal() override;

  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // The records that Open has found, by run id; empty after the first call.
  std::map<std::string, std::string> TakeRecords();
  // Tells this run of the coordinator from earlier and later ones: one more
  // than that of the last run, and at least Open's `least_epoch`. It was
  // durable before Open returned.
  uint64_t epoch() const { return epoch_; }

  // Calls `done` at the latest as soon as trouble() has a value.
  void Put(const std::string& run_id, std::string record,
           std::function<void()> done) override;
  void Remove(const std::string& run_id) override;

  // Why records are not durable; nullopt: each record whose `done` was called
  // is durable.
  std::optional<Trouble> trouble() const;

 private:
  struct State;

  Journal(const std::string& path, const Limits& limits);

  const std::string path_;
  const Limits limits_;
  uint64_t epoch_ = 0;
  std::map<std::string, std::string> records_;  // guarded by state_->mutex
  // Shared with the thread of `queue_`, which outlives the journal if the file
  // system hangs.
  const std::shared_ptr<State> state_;
  // Its thread makes all calls of SQLite.
  FileQueue queue_;
  // Calls each `done`, and watches the time of the current write.
  std::thread caller_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOURNAL_JOURNAL_H_
