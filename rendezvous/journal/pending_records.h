#ifndef MUSTER_RENDEZVOUS_JOURNAL_PENDING_RECORDS_H_
#define MUSTER_RENDEZVOUS_JOURNAL_PENDING_RECORDS_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/time.h"

namespace muster::rendezvous {

// Why and since when changes of records are not durable.
struct JournalTrouble {
  // Start of the first write that failed or hung.
  Instant since;
  // A clause with the path of the journal's file: "cannot write
  // /s/coordinator.journal: the disk is full".
  std::string why;
};

// Decides when a journal's changes are written, and when each change is
// released, that is, from when on no caller waits for it any more. A change is
// released once it is durable. With OnTrouble::kRelease a change is also
// released at once while the medium hangs or fails.
//
// Changes have the numbers 1, 2, 3, …. Only one write runs at a time. Each
// write contains all changes that are queued when the write starts. A change
// replaces an earlier one of the same job in the queue, so the queue has at
// most one change for each job.
//
// Pure. Not thread-safe, except as documented at batch().
class PendingRecords {
 public:
  // When changes are released (no caller waits for them any more) while the
  // medium hangs or fails.
  enum class OnTrouble {
    kRelease,  // Changes are released at once, so that jobs continue.
    // Changes are released only once they are durable. The coordinator's
    // decisions wait until then.
    kHold,
  };
  struct Limits {
    OnTrouble on_trouble = OnTrouble::kRelease;
    // Duration after which a running write counts as hung.
    Duration hung_after = std::chrono::seconds(1);
    // Delay between a failed write and the next attempt.
    Duration retry_after = std::chrono::seconds(1);
  };
  // Changes by run id. Value: the new record of the job; nullopt: the job's
  // record is to be removed.
  using Batch = std::map<std::string, std::optional<std::string>>;
  // The records that the storage medium (a file or etcd) cannot store. Key: run
  // id; value: the reason, a clause.
  using Refused = std::map<std::string, std::string>;

  // `path`: the name of the journal's medium, for messages.
  PendingRecords(std::string path, const Limits& limits)
      : path_(std::move(path)), limits_(limits) {}

  // Queues a change of the job's record, and returns the change's number.
  // `record`: the new record; nullopt: the record is to be removed.
  uint64_t Add(const std::string& run_id, std::optional<std::string> record);

  // Whether a change is queued and a write may start now.
  bool MayWrite(Instant now) const;
  // Starts a write of all queued changes.
  void Begin(Instant now);
  // The changes of the current write. They do not change until Succeeded or
  // Failed, so that another thread can read them meanwhile.
  const Batch& batch() const { return batch_; }
  // Succeeded and Failed record the end of the current write. `refused`: the
  // records that the medium cannot store. Their changes are released (callers
  // stop waiting for them) although they are not durable. `why`: the reason of
  // the failure, a clause with the journal's path.
  void Succeeded(const Refused& refused = {});
  void Failed(Instant now, std::string why);
  // Allows the next write to start at once, although the last write failed less
  // than `retry_after` ago.
  void RetryNow() { retry_at_ = Instant(); }

  // Checks whether the current write hangs. The caller must call Look at the
  // time that NextLook returns.
  void Look(Instant now);
  // The time at which the caller must call Look and MayWrite again, because the
  // current write then counts as hung, or queued changes may then be written.
  // nullopt: no such call is needed before the next Add, Succeeded or Failed.
  std::optional<Instant> NextLook() const;

  // The number of the newest released change, for which no caller waits any
  // more. All older changes are released, too.
  uint64_t released() const { return released_; }
  // The reason why changes are not durable. nullopt: every released change is
  // durable, except changes of jobs for which TroubleOf returns a reason.
  const std::optional<JournalTrouble>& trouble() const { return trouble_; }
  // The reason why changes of one job are not durable: trouble(), or else the
  // reason why the storage medium refuses the job's record.
  std::optional<JournalTrouble> TroubleOf(const std::string& run_id) const;
  // Start time of the current write; nullopt: no write is in progress.
  std::optional<Instant> writing_since() const { return writing_since_; }
  // Whether no change is queued and no write is in progress.
  bool IsIdle() const { return queued_.empty() && !writing_since_; }

 private:
  // Records that the current write hangs or that the last write failed.
  void NoteTrouble(Instant since, std::string why);

  const std::string path_;
  const Limits limits_;
  Batch queued_;
  Batch batch_;
  uint64_t newest_ = 0;  // number of the newest change that Add has queued
  // number of the newest change in the current write
  uint64_t batch_newest_ = 0;
  uint64_t released_ = 0;
  std::optional<Instant> writing_since_;
  // Whether the current write counts as hung.
  bool hangs_ = false;
  // With OnTrouble::kRelease: whether a write has hung or failed since the last
  // successful one. While this is true, a new change is released at once: no
  // caller waits until it is durable.
  bool failing_ = false;
  Instant retry_at_;  // earliest time of the next write
  std::optional<JournalTrouble> trouble_;
  // The jobs whose newest written record the journal's medium (file or etcd)
  // has refused, for example because the record is too large. Key: run id.
  std::map<std::string, JournalTrouble> refused_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOURNAL_PENDING_RECORDS_H_
