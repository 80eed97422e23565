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

// The reason why changes of records are not durable.
struct JournalTrouble {
  // The start of the first write that failed or hung.
  Instant since;
  // A clause with the path of the journal's file: "cannot write
  // /s/coordinator.journal: the disk is full".
  std::string why;
};

// Decides when the changes of a journal are written, and when each change is
// released: from then on no caller waits for the change. A change is released
// once it is durable or, with OnTrouble::kRelease, at once while the medium
// hangs or fails.
//
// Changes have numbers: 1, 2, 3, …. One write at a time takes all changes that
// are queued. Only the newest change of each job is kept, so that the number of
// jobs bounds the memory while nothing can be written.
//
// Pure. Not thread-safe, except as batch() says.
class PendingRecords {
 public:
  // What becomes of changes that cannot be written.
  enum class OnTrouble {
    kRelease,  // jobs go on without durable records
    kHold,     // jobs wait: an undurable decision must not be told
  };
  struct Limits {
    OnTrouble on_trouble = OnTrouble::kRelease;
    // A write that takes longer counts as hung.
    Duration hung_after = std::chrono::seconds(1);
    // The time from a failed write to the next one.
    Duration retry_after = std::chrono::seconds(1);
  };
  // Records by run id. nullopt: the job's record is removed.
  using Batch = std::map<std::string, std::optional<std::string>>;

  // `path`: the journal's medium, for messages.
  PendingRecords(std::string path, const Limits& limits)
      : path_(std::move(path)), limits_(limits) {}

  // Queues a change and returns its number.
  uint64_t Add(const std::string& run_id, std::optional<std::string> record);

  // Whether a change is queued and a write may begin.
  bool MayWrite(Instant now) const;
  // Begins a write of all queued changes.
  void Begin(Instant now);
  // The changes of the current write. Constant until Succeeded or Failed, so
  // that another thread can read the batch meanwhile.
  const Batch& batch() const { return batch_; }
  // The current write has ended. `why`: one clause with the path.
  void Succeeded();
  void Failed(Instant now, std::string why);
  // Lets the write after a failed one begin at once.
  void RetryNow() { retry_at_ = Instant(); }

  // Checks whether the current write hangs. Must be called at NextLook.
  void Look(Instant now);
  // The time at which the caller must call Look and MayWrite next: the current
  // write then counts as hung, or queued changes may be written. nullopt: no
  // call is needed before the next Add, Succeeded or Failed.
  std::optional<Instant> NextLook() const;

  // The number of the newest released change. All older changes are released,
  // too.
  uint64_t released() const { return released_; }
  // The reason why released changes may not be durable; nullopt: all released
  // changes are durable.
  const std::optional<JournalTrouble>& trouble() const { return trouble_; }
  // The start of the current write; nullopt: no write is in progress.
  std::optional<Instant> writing_since() const { return writing_since_; }
  // Whether all changes are durable.
  bool IsIdle() const { return queued_.empty() && !writing_since_; }

 private:
  // Records that the current write hangs or the last write has failed.
  void NoteTrouble(Instant since, std::string why);

  const std::string path_;
  const Limits limits_;
  Batch queued_;
  Batch batch_;
  uint64_t newest_ = 0;        // number of the newest change
  uint64_t batch_newest_ = 0;  // the newest change of the current write
  uint64_t released_ = 0;
  std::optional<Instant> writing_since_;
  // Whether the current write is known to hang.
  bool hangs_ = false;
  // True from a hang or failure to the next success: changes are released at
  // once.
  bool failing_ = false;
  Instant retry_at_;  // no write before this time
  std::optional<JournalTrouble> trouble_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOURNAL_PENDING_RECORDS_H_
