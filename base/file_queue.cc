#include "base/file_queue.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/blocked_signals.h"
#include "base/monotonic_clock.h"

namespace muster {
namespace {

// Maximum number of bytes in one call of RotatingFile::Write. Each completed
// call counts as progress of the file system.
constexpr size_t kPieceBytes = 1 << 20;
// Maximum capacity, in bytes, of a write buffer that is kept for the next
// write. A larger buffer is freed after use.
constexpr size_t kKeptBytes = 64 << 10;
constexpr Duration kLookForSignals = std::chrono::milliseconds(50);

std::string SecondsSince(Instant begin) {
  const auto passed =
      std::chrono::floor<std::chrono::seconds>(MonotonicNow() - begin);
  return std::to_string(passed.count()) + " s";
}

}  // namespace

struct FileQueue::Task {
  Path path;
  std::function<void()> run;
  // Called if the queue is abandoned before `run`, the task's function, has
  // returned. May be empty.
  std::function<void()> on_given_up;
  FileBacklog::Entry entry = FileBacklog::Entry::kWork;
};

struct FileQueue::State {
  State(OnTrouble trouble, const FileBacklog::Limits& limits)
      : on_trouble(std::move(trouble)), backlog(limits) {}

  void Run();
  bool AddBytes(int64_t bytes);
  void Drop(int64_t bytes);
  void BytesDone(int64_t bytes);
  // Calls `tell`, unless the queue was abandoned or destroyed.
  void Tell(const std::function<void()>& tell);

  // Held while one of the owner's callbacks (such as on_trouble) runs, and
  // while on_trouble is destroyed. An owner abandons a queue whose thread hangs
  // in a write. on_trouble is then destroyed at once, not when the thread ends.
  std::mutex tell_mutex;
  // whether no callback may run any more; guarded by tell_mutex
  bool silent = false;
  OnTrouble on_trouble;  // callback for messages; guarded by tell_mutex

  std::mutex mutex;  // guards the fields below
  std::condition_variable work;
  std::condition_variable moved;
  // posted tasks in order; the queue's thread executes the first one
  std::deque<Task> tasks;
  bool stopping = false;
  bool given_up = false;
  bool left = false;  // whether the queue's thread has left its loop
  // Objects that an abandoned queue leaves to its thread: only the thread may
  // destroy them, because their destructors close files and may block.
  std::vector<std::shared_ptr<const void>> remains;
  FileBacklog backlog;
  // `progress` counts completed work. `stuck_at` is the value of `progress`
  // when a call of Do last timed out.
  uint64_t progress = 0;
  std::optional<uint64_t> stuck_at;
  std::function<void()> on_room;
  bool room_wanted = false;
  // While the file system is reported as hung: the time since which no work was
  // completed. nullopt: it is not reported as hung.
  std::optional<Instant> hung_since;
  std::thread thread;

 private:
  void Progressed(std::unique_lock<std::mutex>& lock, Path path);
};

// Counts one operation on the file `path` as done, and wakes waiting callers.
// Calls `on_room` once half of the queue's room is free. If the file system was
// hung, reports that it answers again.
void FileQueue::State::Progressed(std::unique_lock<std::mutex>& lock,
                                  Path path) {
  ++progress;
  moved.notify_all();
  std::function<void()> room;
  if (room_wanted && backlog.HasHalfRoom()) {
    room_wanted = false;
    room = on_room;
  }
  const std::optional<Instant> since = std::exchange(hung_since, std::nullopt);
  if (!room && !since) return;
  lock.unlock();
  Tell([&] {
    if (room) room();
    if (since) {
      on_trouble(*path + " answers again after " + SecondsSince(*since));
    }
  });
  lock.lock();
}

void FileQueue::State::Run() {
  std::unique_lock<std::mutex> lock(mutex);
  while (!given_up) {
    if (tasks.empty()) {
      if (stopping) return;
      work.wait(lock);
      continue;
    }
    const Path path = tasks.front().path;
    std::function<void()> run = std::move(tasks.front().run);
    lock.unlock();
    run();
    run = nullptr;  // destroy the task's objects without holding the lock
    lock.lock();
    if (given_up) break;
    tasks.pop_front();
    backlog.EntryDone(MonotonicNow());
    Progressed(lock, path);
  }
  left = true;
  const std::vector<std::shared_ptr<const void>> closed = std::move(remains);
  lock.unlock();
}

bool FileQueue::State::AddBytes(int64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  return !given_up && backlog.AddBytes(MonotonicNow(), bytes);
}

void FileQueue::State::Drop(int64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  backlog.Drop(bytes);
}

void FileQueue::State::BytesDone(int64_t bytes) {
  std::unique_lock<std::mutex> lock(mutex);
  backlog.BytesDone(MonotonicNow(), bytes);
  if (!tasks.empty()) Progressed(lock, tasks.front().path);
}

void FileQueue::State::Tell(const std::function<void()>& tell) {
  std::lock_guard<std::mutex> lock(tell_mutex);
  if (!silent) tell();
}

FileQueue::FileQueue(OnTrouble on_trouble, const FileBacklog::Limits& limits)
    : state_(std::make_shared<State>(std::move(on_trouble), limits)) {}

FileQueue::~FileQueue() {
  const bool done = Finish();
  {
    std::lock_guard<std::mutex> lock(state_->mutex);
    state_->stopping = true;
    state_->work.notify_all();
  }
  if (!state_->thread.joinable()) return;
  if (done) {
    state_->thread.join();
  } else {
    state_->thread.detach();
  }
}

// Starts the queue's thread unless it runs. Returns false if the system cannot
// create a thread. Requires that the caller holds `state_->mutex`.
bool FileQueue::StartThread() {
  if (state_->thread.joinable()) return true;
  // The new thread inherits this mask, which blocks all signals, so that other
  // threads handle them.
  const BlockedSignals blocked;
  try {
    state_->thread = std::thread([state = state_] { state->Run(); });
  } catch (const std::system_error&) {
    // No thread could be created. The next call of StartThread tries again.
  }
  return state_->thread.joinable();
}

bool FileQueue::Add(Task task) {
  std::lock_guard<std::mutex> lock(state_->mutex);
  if (state_->given_up || !StartThread() ||
      !state_->backlog.AddEntry(MonotonicNow(), task.entry)) {
    return false;
  }
  state_->tasks.push_back(std::move(task));
  state_->work.notify_one();
  return true;
}

bool FileQueue::Post(const std::string& path, std::function<void()> work) {
  return Add({.path = std::make_shared<const std::string>(path),
              .run = std::move(work),
              .on_given_up = nullptr});
}

bool FileQueue::Do(const std::string& path, std::function<void()> work,
                   Duration timeout) {
  struct Call {
    // Whether Do has stopped waiting for the task `work`, which then must not
    // begin. The mutex state_->mutex guards `cancelled` and `done`.
    bool cancelled = false;
    bool done = false;
  };
  const auto call = std::make_shared<Call>();
  const Instant deadline = MonotonicNow() + timeout;
  {
    std::lock_guard<std::mutex> lock(state_->mutex);
    if (!state_->tasks.empty() && state_->stuck_at == state_->progress) {
      return false;
    }
  }
  // The lambda below holds a plain pointer to the state. This suffices, because
  // the queue's thread, which runs the lambda, keeps the state alive.
  State* const state = state_.get();
  const bool posted = Post(path, [call, state, work = std::move(work)] {
    {
      std::lock_guard<std::mutex> lock(state->mutex);
      if (call->cancelled) return;
    }
    work();
    std::lock_guard<std::mutex> lock(state->mutex);
    call->done = true;
    state->moved.notify_all();
  });
  if (!posted) return false;
  std::unique_lock<std::mutex> lock(state_->mutex);
  state_->moved.wait_until(lock, ToSteady(deadline),
                           [&] { return call->done || state->given_up; });
  if (call->done) return true;
  call->cancelled = true;
  state_->stuck_at = state_->progress;
  return false;
}

bool FileQueue::HasRoom() {
  std::lock_guard<std::mutex> lock(state_->mutex);
  const bool room = state_->backlog.HasRoom(MonotonicNow());
  if (!room) state_->room_wanted = true;
  return room;
}

std::optional<Instant> FileQueue::RoomAt() {
  std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->backlog.RoomAt(MonotonicNow());
}

void FileQueue::SetOnRoom(std::function<void()> on_room) {
  std::lock_guard<std::mutex> lock(state_->mutex);
  state_->on_room = std::move(on_room);
}

std::optional<Instant> FileQueue::NextLook() {
  std::lock_guard<std::mutex> lock(state_->mutex);
  if (state_->hung_since || state_->given_up) return std::nullopt;
  return state_->backlog.HungAt();
}

void FileQueue::Look() {
  std::string trouble;
  {
    std::lock_guard<std::mutex> lock(state_->mutex);
    const FileBacklog& backlog = state_->backlog;
    if (state_->hung_since || state_->given_up ||
        !backlog.IsHung(MonotonicNow())) {
      return;
    }
    state_->hung_since = backlog.moved();
    trouble = *state_->tasks.front().path + " has not answered for " +
              SecondsSince(backlog.moved()) +
              ": its file system hangs. The job goes on; what is to be written "
              "there waits in memory, and what exceeds " +
              std::to_string(backlog.room_bytes() >> 20) +
              " MiB is dropped and counted";
  }
  state_->Tell([&] { state_->on_trouble(trouble); });
}

bool FileQueue::Finish(const WaitLimits& limits) {
  const Instant began = MonotonicNow();
  const auto given_up = std::make_shared<std::deque<Task>>();
  std::string trouble;
  {
    std::unique_lock<std::mutex> lock(state_->mutex);
    while (!state_->given_up && !state_->tasks.empty()) {
      int signals = 0;
      if (limits.end_signals) {
        lock.unlock();
        signals = limits.end_signals();
        lock.lock();
        if (state_->tasks.empty()) break;
      }
      const Instant now = MonotonicNow();
      const Instant until = state_->backlog.GiveUpAt(began, limits, signals);
      if (now >= until) {
        state_->given_up = true;
        break;
      }
      const Instant look = limits.end_signals ? now + kLookForSignals : until;
      state_->moved.wait_until(lock, ToSteady(std::min(until, look)));
    }
    if (!state_->given_up) return true;
    if (state_->tasks.empty()) return false;
    trouble = *state_->tasks.front().path + " has not answered for " +
              SecondsSince(state_->backlog.moved()) +
              ": its file system hangs; nothing waits for it any longer";
    const int64_t bytes = state_->backlog.bytes() + state_->backlog.dropped();
    if (bytes > 0) {
      trouble += ", and " + std::to_string(bytes) + " bytes are lost";
    }
    given_up->swap(state_->tasks);
    state_->remains.push_back(given_up);
    state_->moved.notify_all();
  }
  {
    std::lock_guard<std::mutex> lock(state_->tell_mutex);
    state_->on_trouble(trouble);
    state_->silent = true;
    state_->on_trouble = nullptr;
  }
  for (const Task& task : *given_up) {
    if (task.on_given_up) task.on_given_up();
  }
  return false;
}

struct QueuedFile::State {
  State(std::shared_ptr<FileQueue::State> in_queue, std::string file_path,
        RotatingFile::Limits limits, RotatingFile::OnTrouble trouble,
        OnMissing when_missing);
  // Destroys `file` first, because its destructor uses the members below.
  ~State() { file = nullptr; }

  // These functions run on the queue's thread.
  void WriteOut();
  void Close();
  // Passes the unwritten bytes to `on_missing` for a file that the queue's
  // thread will not close, because the queue was abandoned or has no task for
  // the file.
  void Settle();
  void End(const RotatingFile::Totals& sums);
  // Sets `totals`, and passes the increase to `on_missing`. Requires `mutex`.
  void Count(const RotatingFile::Totals& sums);

  const std::shared_ptr<FileQueue::State> queue;
  const FileQueue::Path path;
  RotatingFile::OnTrouble on_trouble;  // guarded by queue->tell_mutex
  // the file that is written; only the queue's thread uses it
  std::unique_ptr<RotatingFile> file;
  // the bytes to write next; only the queue's thread uses them
  std::string writing;

  std::mutex mutex;  // guards the fields below
  std::string pending;
  // The number of bytes in `writing` that are not written yet.
  int64_t left = 0;
  // The number of dropped bytes whose place in the file is after the bytes in
  // `pending`. While it is above 0, all further bytes are dropped, too. When
  // the queue's thread takes `pending` to write it, the thread sets `gap` to 0,
  // and then notes in the file how many bytes are missing.
  int64_t gap = 0;
  bool scheduled = false;  // whether the queue has a task that calls WriteOut
  bool touched = false;  // whether any task for this file may have been queued
  bool ended = false;
  OnMissing on_missing;         // null once the file is closed
  RotatingFile::Totals totals;  // the bytes that `on_missing` has got so far
};

QueuedFile::State::State(std::shared_ptr<FileQueue::State> in_queue,
                         std::string file_path, RotatingFile::Limits limits,
                         RotatingFile::OnTrouble trouble,
                         OnMissing when_missing)
    : queue(std::move(in_queue)),
      path(std::make_shared<const std::string>(file_path)),
      on_trouble(std::move(trouble)),
      file(std::make_unique<RotatingFile>(
          std::move(file_path), limits,
          [this](const std::string& sentence) {
            queue->Tell([&] { on_trouble(sentence); });
          },
          [this](const RotatingFile::Totals& sums) { End(sums); })),
      on_missing(std::move(when_missing)) {}

void QueuedFile::State::Count(const RotatingFile::Totals& sums) {
  const RotatingFile::Totals more = {.lost = sums.lost - totals.lost,
                                     .dropped = sums.dropped - totals.dropped};
  totals = sums;
  if (on_missing && (more.lost > 0 || more.dropped > 0)) on_missing(more);
}

void QueuedFile::State::End(const RotatingFile::Totals& sums) {
  std::lock_guard<std::mutex> lock(mutex);
  Count(sums);
  on_missing = nullptr;
}

void QueuedFile::State::Settle() {
  RotatingFile::Totals sums;
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (!ended) return;
    sums = totals;
    sums.lost += static_cast<int64_t>(pending.size()) + left + gap;
  }
  End(sums);
  std::lock_guard<std::mutex> lock(queue->tell_mutex);
  if (queue->silent) on_trouble = nullptr;
}

void QueuedFile::State::WriteOut() {
  int64_t missing = 0;
  {
    std::lock_guard<std::mutex> lock(mutex);
    scheduled = false;
    std::swap(pending, writing);
    left = static_cast<int64_t>(writing.size());
    missing = std::exchange(gap, 0);
  }
  std::string_view rest = writing;
  while (!rest.empty()) {
    const std::string_view piece = rest.substr(0, kPieceBytes);
    file->Write(piece);
    rest.remove_prefix(piece.size());
    const auto count = static_cast<int64_t>(piece.size());
    {
      std::lock_guard<std::mutex> lock(mutex);
      left -= count;
      Count(file->totals());
    }
    queue->BytesDone(count);
  }
  writing.clear();
  if (writing.capacity() > kKeptBytes) writing = std::string();
  if (missing == 0) return;
  file->NoteMissing(missing);
  std::lock_guard<std::mutex> lock(mutex);
  Count(file->totals());
}

void QueuedFile::State::Close() {
  WriteOut();
  file = nullptr;
}

QueuedFile::QueuedFile(FileQueue* queue, std::string path,
                       RotatingFile::Limits limits,
                       RotatingFile::OnTrouble on_trouble, OnMissing on_missing)
    : queue_(queue),
      state_(std::make_shared<State>(queue->state_, std::move(path), limits,
                                     std::move(on_trouble),
                                     std::move(on_missing))) {}

QueuedFile::~QueuedFile() {
  bool touched = false;
  {
    std::lock_guard<std::mutex> lock(state_->mutex);
    state_->ended = true;
    touched = state_->touched;
  }
  const bool closes =
      touched &&
      queue_->Add({.path = state_->path,
                   .run = [state = state_] { state->Close(); },
                   .on_given_up = [state = state_] { state->Settle(); },
                   .entry = FileBacklog::Entry::kEnd});
  if (closes) return;
  state_->Settle();
  if (!touched) return;
  std::lock_guard<std::mutex> lock(state_->queue->mutex);
  if (!state_->queue->left) state_->queue->remains.push_back(state_);
}

void QueuedFile::Open() {
  const bool posted =
      queue_->Add({.path = state_->path,
                   .run = [state = state_] { state->file->Open(); },
                   .on_given_up = nullptr});
  if (!posted) return;
  std::lock_guard<std::mutex> lock(state_->mutex);
  state_->touched = true;
}

void QueuedFile::Write(std::string_view bytes) {
  if (bytes.empty()) return;
  const auto count = static_cast<int64_t>(bytes.size());
  std::lock_guard<std::mutex> lock(state_->mutex);
  if (!state_->scheduled) {
    state_->scheduled =
        queue_->Add({.path = state_->path,
                     .run = [state = state_] { state->WriteOut(); },
                     .on_given_up = nullptr});
  }
  state_->touched |= state_->scheduled;
  const bool follows_gap = !state_->scheduled || state_->gap > 0;
  if (follows_gap) state_->queue->Drop(count);
  if (!follows_gap && state_->queue->AddBytes(count)) {
    state_->pending.append(bytes);
  } else {
    state_->gap += count;
  }
}

absl::Status QueuedFile::Reopen(Duration timeout) {
  const auto outcome = std::make_shared<absl::Status>();
  {
    std::lock_guard<std::mutex> lock(state_->mutex);
    state_->touched = true;
  }
  const bool done = queue_->Do(
      *state_->path,
      [state = state_, outcome] { *outcome = state->file->Reopen(); }, timeout);
  if (done) return *outcome;
  return absl::DeadlineExceededError("cannot open " + *state_->path +
                                     ": its file system did not answer");
}

}  // namespace muster
