#include "rendezvous/journal/pending_records.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace muster::rendezvous {

uint64_t PendingRecords::Add(const std::string& run_id,
                             std::optional<std::string> record) {
  queued_.insert_or_assign(run_id, std::move(record));
  ++newest_;
  if (failing_) released_ = newest_;
  return newest_;
}

bool PendingRecords::MayWrite(Instant now) const {
  return !queued_.empty() && !writing_since_ && now >= retry_at_;
}

void PendingRecords::Begin(Instant now) {
  MUSTER_CHECK(MayWrite(now));
  std::swap(batch_, queued_);
  batch_newest_ = newest_;
  writing_since_ = now;
  hangs_ = false;
}

void PendingRecords::Succeeded(const Refused& refused) {
  MUSTER_CHECK(writing_since_.has_value());
  for (const auto& [run_id, record] : batch_) {
    const auto found = refused.find(run_id);
    if (found == refused.end()) {
      refused_.erase(run_id);
    } else {
      refused_.try_emplace(run_id, JournalTrouble{.since = *writing_since_})
          .first->second.why = found->second;
    }
  }
  writing_since_.reset();
  batch_.clear();
  failing_ = false;
  released_ = std::max(released_, batch_newest_);
  // Report no trouble with the journal any more once all released changes are
  // durable. (A released change is one for which no caller waits any more.) A
  // change that was released while this write hung may be newer than the write,
  // and is then still queued. So keep trouble_ in this case.
  if (released_ == batch_newest_) trouble_.reset();
}

void PendingRecords::Failed(Instant now, std::string why) {
  MUSTER_CHECK(writing_since_.has_value());
  const Instant since = *writing_since_;
  writing_since_.reset();
  // Put the batch back into the queue. If a newer change of a job was queued
  // meanwhile, merge() keeps the newer one.
  queued_.merge(batch_);
  batch_.clear();
  retry_at_ = now + limits_.retry_after;
  NoteTrouble(since, std::move(why));
}

std::optional<JournalTrouble> PendingRecords::TroubleOf(
    const std::string& run_id) const {
  if (trouble_.has_value()) return trouble_;
  const auto found = refused_.find(run_id);
  if (found == refused_.end()) return std::nullopt;
  return found->second;
}

void PendingRecords::Look(Instant now) {
  if (!writing_since_ || hangs_) return;
  if (now < *writing_since_ + limits_.hung_after) return;
  hangs_ = true;
  NoteTrouble(*writing_since_,
              "cannot write " + path_ + ": its file system does not answer");
}

std::optional<Instant> PendingRecords::NextLook() const {
  if (writing_since_) {
    if (hangs_) return std::nullopt;
    return *writing_since_ + limits_.hung_after;
  }
  if (queued_.empty()) return std::nullopt;
  return retry_at_;
}

void PendingRecords::NoteTrouble(Instant since, std::string why) {
  if (limits_.on_trouble == OnTrouble::kRelease) {
    failing_ = true;
    released_ = newest_;
  }
  if (!trouble_) trouble_ = JournalTrouble{.since = since, .why = ""};
  trouble_->why = std::move(why);
}

}  // namespace muster::rendezvous
