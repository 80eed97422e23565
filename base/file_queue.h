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
// system. It does the posted work in order; FileBacklog limits the queue.
//
// If the file system hangs, nothing can end the call that waits for it. At the
// end such a thread is abandoned; all that it uses is shared with it.
//
// Thread-safe. The thread starts with the first work.
class FileQueue {
 public:
  // Receives whole sentences, in any thread; not called once the queue is
  // destroyed.
  using OnTrouble = std::function<void(const std::string& sentence)>;
  // A path, for messages.
  using Path = std::shared_ptr<const std::string>;

  explicit FileQueue(OnTrouble on_trouble)
      : FileQueue(std::move(on_trouble), FileBacklog::Limits()) {}
  FileQueue(OnTrouble on_trouble, const FileBacklog::Limits& limits);
  // Calls Finish.
  ~FileQueue();

  FileQueue(const FileQueue&) = delete;
  FileQueue& operator=(const FileQueue&) = delete;

  // Adds work on `path`. It must own what it uses. Returns false if there is
  // too much work, no thread can be started, or the queue was given up.
  bool Post(const std::string& path, std::function<void()> work);

  // Like Post, and waits for the end of the work, at most `timeout`. Returns
  // whether it ended; work that has not begun by then is cancelled. Does not
  // wait for a thread that has finished nothing since an earlier Do was not
  // done in time: then returns false at once.
  bool Do(const std::string& path, std::function<void()> work,
          Duration timeout);

  // The next three are FileBacklog's, at this time. After HasRoom was false,
  // `on_room` is called once half of the room is free, in the queue's thread.
  bool HasRoom();
  std::optional<Instant> RoomAt();
  void SetOnRoom(std::function<void()> on_room);

  // When Look is to be called next; nullopt: there is no need.
  std::optional<Instant> NextLook();
  // Reports a file system that hangs, once.
  void Look();

  struct WaitLimits : FileBacklog::WaitLimits {
    // Returns the number of signals so far that asked this process to end;
    // called about 20 times a second. May be empty.
    std::function<int()> end_signals;
  };
  // Waits for the end of all work. If `limits` ends before, one sentence says
  // which path does not answer and how many bytes are not written, the queue is
  // given up, and what is written later is lost. Returns whether all work has
  // ended.
  bool Finish(const WaitLimits& limits);
  bool Finish() { return Finish(WaitLimits()); }

 private:
  friend class QueuedFile;
  struct State;
  struct Task;

  bool StartThread();
  bool Add(Task task);

  // Shared with the thread, which may outlive the queue.
  std::shared_ptr<State> state_;
};

// A RotatingFile that a FileQueue writes. No call waits for the file system.
// Bytes for which the queue has no room are dropped and counted; where they are
// missing, the file says so as after a failed write.
//
// Thread-safe. The queue outlives the file.
class QueuedFile {
 public:
  // The arguments are RotatingFile's. The functions are not called once the
  // queue is destroyed. `on_end` gets bytes of a queue that was given up as
  // lost.
  QueuedFile(FileQueue* queue, std::string path, RotatingFile::Limits limits,
             RotatingFile::OnTrouble on_trouble,
             RotatingFile::OnEnd on_end = nullptr);
  ~QueuedFile();

  QueuedFile(const QueuedFile&) = delete;
  QueuedFile& operator=(const QueuedFile&) = delete;

  void Open();
  void Write(std::string_view bytes);
  // Waits at most `timeout`. DeadlineExceeded: the file system does not
  // answer.
  absl::Status Reopen(Duration timeout);

 private:
  struct State;

  FileQueue* const queue_;
  const std::shared_ptr<State> state_;
};

}  // namespace muster

#endif  // MUSTER_BASE_FILE_QUEUE_H_
