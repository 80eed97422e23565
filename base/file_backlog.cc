#include "base/file_backlog.h"

#include <algorithm>

namespace muster {

bool FileBacklog::AddEntry(Instant now, Entry entry) {
  const bool is_full = entries_ >= limits_.max_entries;
  if (is_full && entry == Entry::kWork) return false;
  if (entries_ == 0) moved_ = now;
  ++entries_;
  return true;
}

bool FileBacklog::AddBytes(Instant now, int64_t bytes) {
  const int64_t most = IsHung(now) ? limits_.room_bytes : limits_.limit_bytes;
  if (bytes_ + bytes > most) {
    Drop(bytes);
    return false;
  }
  bytes_ += bytes;
  return true;
}

void FileBacklog::EntryDone(Instant now) {
  --entries_;
  moved_ = now;
}

void FileBacklog::BytesDone(Instant now, int64_t bytes) {
  bytes_ -= bytes;
  moved_ = now;
}

bool FileBacklog::HasRoom(Instant now) const {
  return bytes_ < limits_.room_bytes || IsHung(now);
}

std::optional<Instant> FileBacklog::RoomAt(Instant now) const {
  return HasRoom(now) ? std::nullopt : HungAt();
}

std::optional<Instant> FileBacklog::HungAt() const {
  if (IsIdle()) return std::nullopt;
  return moved_ + limits_.hung_after;
}

bool FileBacklog::IsHung(Instant now) const {
  const std::optional<Instant> hung_at = HungAt();
  return hung_at && now >= *hung_at;
}

Instant FileBacklog::GiveUpAt(Instant began, const WaitLimits& limits,
                              int signals) const {
  if (signals > 1) return began;
  const Duration in_all = signals == 1 ? limits.after_signal : limits.in_all;
  return std::min(moved_ + limits.without_progress, began + in_all);
}

}  // namespace muster
