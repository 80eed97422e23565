#ifndef MUSTER_BASE_FILE_BACKLOG_H_
#define MUSTER_BASE_FILE_BACKLOG_H_

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/time.h"

namespace muster {

// The queue limits of a thread that writes files: decides when producers wait
// and which bytes are dropped while the file system is slow or does not answer.
//
// A slow file system makes producers wait, as a pipe would: HasRoom is false
// while the backlog is full. If a file system has completed no work for
// `hung_after`, it counts as hung until it completes work again. Producers then
// do not wait, and bytes beyond `room_bytes` are dropped.
//
// Pure. Not thread-safe.
class FileBacklog {
 public:
  struct Limits {
    // While the unwritten bytes are fewer than this, HasRoom returns true, and
    // producers may add bytes.
    int64_t room_bytes = 64 << 20;
    // Maximum backlog in bytes while the file system is not hung; further bytes
    // are dropped. Most producers add nothing once the backlog has
    // `room_bytes`. So only producers that cannot wait, for example at a job's
    // end, reach this limit.
    int64_t limit_bytes = 128 << 20;
    // maximum number of queued tasks; further tasks are refused
    int max_entries = 4096;
    Duration hung_after = std::chrono::seconds(10);
  };

  // Time limits of a wait until all queued work is done.
  struct WaitLimits {
    // A wait for all queued work ends if no work is completed for this long.
    Duration without_progress = std::chrono::seconds(5);
    // Maximum duration of a wait for all queued work, even if work is being
    // completed. `in_all` applies if no signal has asked this process to end,
    // `after_signal` if one signal has. After a second signal the wait ends.
    Duration in_all = std::chrono::seconds(60);
    Duration after_signal = std::chrono::seconds(5);
  };

  FileBacklog() : FileBacklog(Limits()) {}
  explicit FileBacklog(const Limits& limits) : limits_(limits) {}

  // The kind of a task. A kEnd task closes a file. It is accepted even if the
  // queue is full, because each file has only one such task.
  enum class Entry { kWork, kEnd };
  // Adds a task. Returns false if the queue is full.
  bool AddEntry(Instant now, Entry entry);
  // Adds bytes to the backlog. Returns false, and counts the bytes as dropped,
  // if there is no room for them.
  bool AddBytes(Instant now, int64_t bytes);
  // Counts bytes that the caller has dropped.
  void Drop(int64_t bytes) { dropped_ += bytes; }

  // EntryDone: a task has ended. BytesDone: `bytes` of the backlog were written
  // or discarded. Both count as progress of the file system.
  void EntryDone(Instant now);
  void BytesDone(Instant now, int64_t bytes);

  // Whether producers may add bytes now.
  bool HasRoom(Instant now) const;
  // If the backlog is full: the time at which the file system counts as hung,
  // unless it completes some work before. From that time HasRoom is true, so
  // that producers do not wait for a file system that hangs. nullopt: HasRoom
  // is true now.
  std::optional<Instant> RoomAt(Instant now) const;
  // Whether at least half of Limits::room_bytes is free. If so, producers that
  // wait for room are woken.
  bool HasHalfRoom() const { return bytes_ <= limits_.room_bytes / 2; }

  bool IsIdle() const { return entries_ == 0; }
  // The time at which the file system counts as hung if it completes no work
  // until then; nullopt if there is no work.
  std::optional<Instant> HungAt() const;
  bool IsHung(Instant now) const;

  // The time at which a wait that started at `began` ends if no more work is
  // completed. `signals`: the number of signals that have asked this process to
  // end.
  Instant GiveUpAt(Instant began, const WaitLimits& limits, int signals) const;

  int64_t room_bytes() const { return limits_.room_bytes; }
  int64_t bytes() const { return bytes_; }  // bytes that are not written yet
  int64_t dropped() const { return dropped_; }
  // The later of two times: when work was last completed, and when a task was
  // last added to an empty queue. The file system has completed no work since.
  Instant moved() const { return moved_; }

 private:
  Limits limits_;
  int entries_ = 0;
  int64_t bytes_ = 0;
  int64_t dropped_ = 0;
  Instant moved_;
};

}  // namespace muster

#endif  // MUSTER_BASE_FILE_BACKLOG_H_
