#ifndef MUSTER_BASE_FILE_QUEUE_H_
#define MUSTER_BASE_FILE_QUEUE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/file_backlog.h"
#include "base/rotating_file.h"
#include "base/time.h"

namespace muster {

// A thread that works on files, so that no other thread waits for a file
// system. The thread executes the posted tasks in order. FileBacklog limits how
// much may be queued.
//
// A system call on a hung file system cannot be interrupted. If Finish must not
// wait for such a call any longer, it abandons the thread. The thread then may
// live longer than the queue, so it shares the ownership of all data that it
// uses.
//
// Thread-safe. The thread starts with the first task.
class FileQueue {
 public:
  // Callback for messages, each a whole sentence. Called on any thread, and not
  // after the queue is destroyed.
  using OnTrouble = std::function<void(const std::string& sentence)>;
  // The path of a task's file, for messages.
  using Path = std::shared_ptr<const std::string>;

  explicit FileQueue(OnTrouble on_trouble)
      : FileQueue(std::move(on_trouble), FileBacklog::Limits()) {}
  FileQueue(OnTrouble on_trouble, const FileBacklog::Limits& limits);
  // The destructor calls Finish.
  ~FileQueue();

  FileQueue(const FileQueue&) = delete;
  FileQueue& operator=(const FileQueue&) = delete;

  // Adds a task for the file `path`. `work` must own all data that it uses.
  // Returns false if the queue is full, no thread can be started, or the queue
  // was abandoned.
  bool Post(const std::string& path, std::function<void()> work);

  // Adds a task as Post does, waits at most `timeout` until the task is done,
  // and returns whether the task is done. After `timeout`, a task that has not
  // begun is cancelled, and a task that has begun continues. Returns false at
  // once if an earlier Do timed out and the queue's thread has completed no
  // work since.
  bool Do(const std::string& path, std::function<void()> work,
          Duration timeout);

  // HasRoom and RoomAt return the results of FileBacklog's functions of the
  // same names at the current time. After HasRoom has returned false, the
  // callback of SetOnRoom is called, on the queue's thread, once half of the
  // room is free.
  bool HasRoom();
  std::optional<Instant> RoomAt();
  void SetOnRoom(std::function<void()> on_room);

  // The time at which Look must be called next. The file system counts as hung
  // if it completes no work before that time. nullopt: no call is needed.
  std::optional<Instant> NextLook();
  // Reports the file system as hung if it has completed no work for
  // FileBacklog::Limits::hung_after. Each hang is reported once.
  void Look();

  struct WaitLimits : FileBacklog::WaitLimits {
    // A function that returns how many signals have asked this process to end
    // so far. The first signal shortens the wait of Finish, the second one ends
    // it. Finish calls the function about 20 times a second. Empty: no signals
    // are counted.
    std::function<int()> end_signals;
  };
  // Waits until all tasks are done, and returns true. If a limit is reached
  // first, reports the path that does not answer and the number of unwritten
  // bytes. Then the queue is abandoned, all later writes are lost, and the
  // result is false.
  bool Finish(const WaitLimits& limits);
  bool Finish() { return Finish(WaitLimits()); }

 private:
  friend class QueuedFile;
  struct State;
  struct Task;

  bool StartThread();
  bool Add(Task task);

  // The state that the queue shares with its thread, which may live longer than
  // the queue.
  std::shared_ptr<State> state_;
};

// A RotatingFile that a FileQueue writes. No call waits for the file system,
// except Reopen up to its timeout. Bytes for which the queue has no room are
// dropped and counted, and a line in the file says how many are missing.
//
// Thread-safe. The queue must outlive the file.
class QueuedFile {
 public:
  // Receives the numbers of bytes that have become missing since the last call.
  // Called soon after the loss, and at the end of the file. Must not block, and
  // must not call the file.
  using OnMissing = std::function<void(const RotatingFile::Totals& more)>;

  // The other parameters are those of RotatingFile. The callbacks are not
  // called after the queue is destroyed. If the queue is abandoned,
  // `on_missing` counts the unwritten bytes as lost.
  QueuedFile(FileQueue* queue, std::string path, RotatingFile::Limits limits,
             RotatingFile::OnTrouble on_trouble,
             OnMissing on_missing = nullptr);
  ~QueuedFile();

  QueuedFile(const QueuedFile&) = delete;
  QueuedFile& operator=(const QueuedFile&) = delete;

  void Open();
  void Write(std::string_view bytes);
  // Reopens the file on the queue's thread, and waits at most `timeout`.
  // DeadlineExceeded: the file system does not answer.
  absl::Status Reopen(Duration timeout);

 private:
  struct State;

  FileQueue* const queue_;
  const std::shared_ptr<State> state_;
};

}  // namespace muster

#endif  // MUSTER_BASE_FILE_QUEUE_H_
