#ifndef MUSTER_BASE_FILE_BACKLOG_H_
#define MUSTER_BASE_FILE_BACKLOG_H_

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/time.h"

namespace muster {

// Decides what happens to the work for a thread that writes files while the
// file system is slow or does not answer at all.
//
// A slow file system makes producers wait, as a pipe would: HasRoom is false
// while the backlog is full. A file system that has finished nothing for
// `hung_after` counts as hung: then nothing waits, and bytes beyond
// `room_bytes` are dropped, until something is finished again.
//
// Pure. Not thread-safe.
class FileBacklog {
 public:
  struct Limits {
    int64_t room_bytes = 64 << 20;  // HasRoom is true below this
    // Bytes beyond this are dropped although the file system is not hung: they
    // come from producers that cannot wait, such as the end of a job.
    int64_t limit_bytes = 128 << 20;
    int max_entries = 4096;  // pieces of work; one that is beyond is refused
    Duration hung_after = std::chrono::seconds(10);
  };

  // The limits of a wait for the end of all work.
  struct WaitLimits {
    // The longest time in which nothing may be finished.
    Duration without_progress = std::chrono::seconds(5);
    // The longest time of the whole wait, and the longest time if one signal
    // has asked this process to end. A second signal ends the wait.
    Duration in_all = std::chrono::seconds(60);
    Duration after_signal = std::chrono::seconds(5);
  };

  FileBacklog() : FileBacklog(Limits()) {}
  explicit FileBacklog(const Limits& limits) : limits_(limits) {}

  // kEnd: closes a file. It is never refused, because each file has only one.
  enum class Entry { kWork, kEnd };
  // Adds a piece of work. Returns false if there are too many.
  bool AddEntry(Instant now, Entry entry);
  // Adds bytes that wait to be written. Returns false, and counts them as
  // dropped, if there is no room for them.
  bool AddBytes(Instant now, int64_t bytes);
  // Counts bytes as dropped.
  void Drop(int64_t bytes) { dropped_ += bytes; }

  // A piece of work has ended, or `bytes` have been written or given up.
  void EntryDone(Instant now);
  void BytesDone(Instant now, int64_t bytes);

  // Whether producers may continue.
  bool HasRoom(Instant now) const;
  // If HasRoom is false and nothing is finished: when it becomes true, because
  // the file system counts as hung. nullopt: HasRoom is true.
  std::optional<Instant> RoomAt(Instant now) const;
  // Whether half of the room is free, which is when waiting producers are
  // woken.
  bool HasHalfRoom() const { return bytes_ <= limits_.room_bytes / 2; }

  bool IsIdle() const { return entries_ == 0; }
  // When the file system counts as hung if nothing is finished by then; nullopt
  // if there is no work.
  std::optional<Instant> HungAt() const;
  bool IsHung(Instant now) const;

  // When a wait that began at `began` is given up if nothing is finished by
  // then. `signals`: the number of signals that have asked this process to end.
  Instant GiveUpAt(Instant began, const WaitLimits& limits, int signals) const;

  int64_t room_bytes() const { return limits_.room_bytes; }
  int64_t bytes() const { return bytes_; }  // not written yet
  int64_t dropped() const { return dropped_; }
  // The time of the last progress, or when the first work came after an idle
  // time.
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
