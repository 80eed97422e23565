#include "agent/logs/console_writer.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

#include "agent/logs/console_fd.h"

namespace muster {
namespace {

// As much as a pipe holds by default: lines are joined into few writes.
constexpr size_t kBatchBytes = 64 << 10;
constexpr std::chrono::seconds kMostEndingTime(1);
constexpr int kRetryMilliseconds = 20;

std::string DroppedNote(int64_t lines) {
  return "[" + std::to_string(lines) +
         " lines were dropped here: the console did not keep up]\n";
}

enum class WriteEnd { kWritten, kStopped, kGone };

// Writes all of `text` to `fd` unless `wake` becomes readable while it waits.
WriteEnd WriteUnlessWoken(int fd, int wake, std::string_view text) {
  while (!text.empty()) {
    pollfd fds[2] = {{fd, POLLOUT, 0}, {wake, POLLIN, 0}};
    if (poll(fds, 2, -1) < 0 && errno != EINTR) return WriteEnd::kGone;
    if (fds[1].revents != 0) return WriteEnd::kStopped;
    if (fds[0].revents == 0) continue;
    ssize_t written = write(fd, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(written);
    } else if (errno == EAGAIN) {
      // Some terminals say that they are writable while they are stopped.
      poll(&fds[1], 1, kRetryMilliseconds);
    } else if (errno != EINTR) {
      return WriteEnd::kGone;
    }
  }
  return WriteEnd::kWritten;
}

}  // namespace

struct ConsoleWriter::State {
  State(int source, size_t most)
      : fd(OpenConsoleCopy(source)),
        wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        most_queued_bytes(most),
        gone(fd < 0 || wake < 0) {}
  ~State() {
    if (fd >= 0) close(fd);
    if (wake >= 0) close(wake);
  }

  void Run();
  void NoteDropped();
  std::string NextBatch();

  const int fd;
  const int wake;  // readable once the writer is being destroyed
  const size_t most_queued_bytes;

  std::mutex mutex;  // guards what follows
  std::condition_variable changed;
  std::thread thread;
  std::deque<std::string> queue;
  size_t queued_bytes = 0;
  int64_t dropped = 0;  // lines, since the last note
  bool writing = false;
  bool stopping = false;
  bool gone = false;  // nobody will read any more
  bool ended = false;
};

void ConsoleWriter::State::NoteDropped() {
  if (dropped == 0) return;
  queue.push_back(DroppedNote(dropped));
  queued_bytes += queue.back().size();
  dropped = 0;
}

std::string ConsoleWriter::State::NextBatch() {
  std::string batch;
  while (!queue.empty() &&
         (batch.empty() || batch.size() + queue.front().size() < kBatchBytes)) {
    queued_bytes -= queue.front().size();
    batch.append(queue.front());
    queue.pop_front();
  }
  return batch;
}

void ConsoleWriter::State::Run() {
  // Signals are the main thread's. A SIGPIPE that is blocked stays with this
  // thread and is never delivered.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);

  std::unique_lock<std::mutex> lock(mutex);
  while (!stopping && !gone) {
    if (queue.empty()) NoteDropped();
    if (queue.empty()) {
      changed.wait(lock);
      continue;
    }
    std::string batch = NextBatch();
    writing = true;
    lock.unlock();
    WriteEnd end = WriteUnlessWoken(fd, wake, batch);
    lock.lock();
    writing = false;
    gone = end == WriteEnd::kGone;
    changed.notify_all();
  }
  queue.clear();
  queued_bytes = 0;
  ended = true;
  changed.notify_all();
}

ConsoleWriter::ConsoleWriter(int fd, size_t most_queued_bytes)
    : state_(std::make_shared<State>(fd, most_queued_bytes)) {}

ConsoleWriter::~ConsoleWriter() {
  std::unique_lock<std::mutex> lock(state_->mutex);
  if (!state_->thread.joinable()) return;
  state_->stopping = true;
  uint64_t one = 1;
  (void)!write(state_->wake, &one, sizeof one);
  state_->changed.notify_all();
  bool ended = state_->changed.wait_for(lock, kMostEndingTime,
                                        [this] { return state_->ended; });
  std::thread thread = std::move(state_->thread);
  lock.unlock();
  if (ended) {
    thread.join();
  } else {
    thread.detach();
  }
}

void ConsoleWriter::Write(std::string line) {
  State& state = *state_;
  std::lock_guard<std::mutex> lock(state.mutex);
  if (state.gone || line.empty()) return;
  // Once lines have been dropped, the queue must have come down to half before
  // others are let in: one long gap with one note is easier to read than many.
  size_t most =
      state.dropped > 0 ? state.most_queued_bytes / 2 : state.most_queued_bytes;
  if (state.queued_bytes + line.size() > most && !state.queue.empty()) {
    ++state.dropped;
    return;
  }
  // Only then does the thread sleep for want of lines.
  bool was_empty = state.queue.empty();
  state.NoteDropped();
  state.queued_bytes += line.size();
  state.queue.push_back(std::move(line));
  if (!state.thread.joinable()) {
    state.thread = std::thread([shared = state_] { shared->Run(); });
  }
  if (was_empty) state.changed.notify_all();
}

bool ConsoleWriter::Flush(Duration timeout) {
  State& state = *state_;
  std::unique_lock<std::mutex> lock(state.mutex);
  return state.changed.wait_for(lock, timeout, [&state] {
    return state.gone ||
           (state.queue.empty() && !state.writing && state.dropped == 0);
  });
}

}  // namespace muster
