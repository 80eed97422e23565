#include "agent/logs/console_writer.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "base/blocked_signals.h"
#include "base/monotonic_clock.h"
#include "base/poll.h"

namespace muster::agent {

int OpenConsoleCopy(int fd) {
  struct stat status;
  if (fstat(fd, &status) != 0) return -1;
  // Only pipes and terminals are opened again, because a write to them may
  // block for long. A regular file is not opened again: the second descriptor
  // would have a file offset of its own, and writes to it would overwrite other
  // programs' output.
  if (S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode)) {
    std::string path = "/proc/self/fd/" + std::to_string(fd);
    int copy = open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (copy >= 0) return copy;
  }
  // The duplicate gets a descriptor number of at least 3. If this process was
  // started with stdin, stdout or stderr closed, the duplicate could otherwise
  // get a number from 0 to 2, and would be mistaken for one of these streams.
  return fcntl(fd, F_DUPFD_CLOEXEC, 3);
}

bool IsSameConsole(int fd, int other) {
  struct stat a;
  struct stat b;
  return fstat(fd, &a) == 0 && fstat(other, &b) == 0 && a.st_dev == b.st_dev &&
         a.st_ino == b.st_ino && a.st_rdev == b.st_rdev;
}

namespace {

// Queued lines are joined into writes of up to this size, the default capacity
// of a pipe.
constexpr size_t kBatchBytes = 64 << 10;
constexpr std::chrono::seconds kMaxEndingTime(1);
constexpr std::chrono::milliseconds kRetryAfter(20);
// The interval at which a wait checks for signals.
constexpr std::chrono::milliseconds kAskEvery(50);

bool IsCharacterDevice(int fd) {
  struct stat status;
  return fstat(fd, &status) == 0 && S_ISCHR(status.st_mode);
}

bool ReaderLeft(int fd, int error) {
  return error == EPIPE || error == ECONNRESET ||
         // EIO: the terminal has hung up
         (error == EIO && IsCharacterDevice(fd));
}

enum class WriteEnd { kWritten, kStopped, kLeft, kFailed };

}  // namespace

Duration ConsoleWriter::WaitLimits::Bound() const {
  const int signals = end_signals ? end_signals() : 0;
  if (signals == 0) return without_progress;
  return signals == 1 ? std::min(without_progress, kAfterSignal)
                      : Duration::zero();
}

struct ConsoleWriter::State {
  State(int source, Limits most)
      : fd(OpenConsoleCopy(source)),
        wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        limits(most),
        line(fd >= 0 && isatty(fd) ? OpenLine::Redraw::kReplace
                                   : OpenLine::Redraw::kNewLine),
        left(fd < 0 || wake < 0) {}
  ~State() {
    if (fd >= 0) close(fd);
    if (wake >= 0) close(wake);
  }

  struct Text {
    std::string bytes;
    Source source = Source::kWorkers;
  };

  // The main function of the writer's thread.
  void Run();
  WriteEnd WriteUnlessWoken(std::string_view text);
  std::string LeadOf(const Text& batch) const;
  Text NextBatch();
  // Updates the state after an attempt to write `lead`, a note about lost
  // bytes, and then `batch`; `end` is the result of the attempt. Returns a
  // function that calls on_error; the caller must run this function without
  // holding `mutex`. Empty: on_error need not be called.
  std::function<void()> After(WriteEnd end, const std::string& lead,
                              const Text& batch);

  bool Takes(size_t bytes, Source source);
  void Add(std::string bytes, Source source);
  int64_t InFlight() const;
  bool HasRoom() const {
    return left || given_up || limits.when_full == WhenFull::kDrop ||
           queued_bytes < limits.room_bytes;
  }
  bool IsDone() const {
    return left || (queue.empty() && !writing && dropped == 0);
  }
  // Implements ConsoleWriter::BeginWait. The caller holds `mutex`.
  void BeginWait(Instant now);
  WaitEnd WaitUntil(const WaitLimits& limits,
                    const std::function<bool()>& is_done);

  const int fd;
  // eventfd that is readable once the writer is being destroyed
  const int wake;
  const Limits limits;
  std::atomic<int64_t> written = 0;  // bytes that the console accepted
  // The time at which the console last accepted bytes.
  std::atomic<Instant> taken_at = Instant();
  // errno of the last failed write; used by the writer's thread only
  int write_error = 0;

  std::mutex mutex;  // guards the fields below
  std::condition_variable changed;
  std::function<void()> on_room;
  std::function<void(int)> on_error;
  std::thread thread;
  OpenLine line;
  std::deque<Text> queue;
  // bytes in `queue` and in the batch that is being written
  size_t queued_bytes = 0;
  // dropped bytes that no note on the console has reported yet
  int64_t dropped = 0;
  // bytes lost in failed writes, not yet reported by a note on the console
  int64_t failed = 0;
  Loss loss;
  bool writing = false;
  Source writing_source = Source::kWorkers;
  // value that `written` will have after the batch that is being written
  int64_t batch_end = 0;
  // whether the console is at the start of a line once the text that was taken
  // from the queue is written
  bool at_line_start = true;
  // whether the console was at the start of a line before the batch that is
  // being written
  bool was_at_line_start = true;
  bool room_wanted = false;
  bool given_up = false;
  // The time at which the first wait (BeginWait) for the queued text began;
  // nullopt: no wait has begun since all text was written.
  std::optional<Instant> waited_since;
  bool stopping = false;
  // Whether nothing more can be written: no process reads from the console any
  // more, or its descriptor `fd` or the eventfd `wake` could not be opened.
  bool left;
  bool ended = false;
};

// Writes all of `text`, or returns early if `wake` becomes readable.
WriteEnd ConsoleWriter::State::WriteUnlessWoken(std::string_view text) {
  while (!text.empty()) {
    pollfd fds[2] = {{fd, POLLOUT, 0}, {wake, POLLIN, 0}};
    PollUntil(fds, kNoDeadline);
    if (fds[1].revents != 0) return WriteEnd::kStopped;
    if (fds[0].revents == 0) continue;
    const ssize_t count = write(fd, text.data(), text.size());
    if (count >= 0) {
      text.remove_prefix(count);
      taken_at = MonotonicNow();
      written += count;
    } else if (errno == EAGAIN) {
      // Pauses before the next attempt: some stopped terminals report that they
      // are writable although they are not.
      PollUntil(wake, POLLIN, MonotonicNow() + kRetryAfter);
    } else if (errno != EINTR) {
      write_error = errno;
      return ReaderLeft(fd, write_error) ? WriteEnd::kLeft : WriteEnd::kFailed;
    }
  }
  return WriteEnd::kWritten;
}

// The note that is written before `batch` if earlier writes failed: the number
// of lost bytes and the error. Empty if nothing was lost.
std::string ConsoleWriter::State::LeadOf(const Text& batch) const {
  if (failed == 0) return "";
  std::string lead = at_line_start ? "" : "\n";
  lead += "[" + std::to_string(failed) +
          " bytes are missing here: " + std::strerror(loss.error) + "]\n";
  return batch.bytes.front() == '\n' ? lead.substr(0, lead.size() - 1) : lead;
}

ConsoleWriter::State::Text ConsoleWriter::State::NextBatch() {
  Text batch = std::move(queue.front());
  queue.pop_front();
  while (!queue.empty() && queue.front().source == batch.source &&
         batch.bytes.size() + queue.front().bytes.size() < kBatchBytes) {
    batch.bytes.append(queue.front().bytes);
    queue.pop_front();
  }
  return batch;
}

int64_t ConsoleWriter::State::InFlight() const {
  return writing ? std::max<int64_t>(batch_end - written, 0) : 0;
}

std::function<void()> ConsoleWriter::State::After(WriteEnd end,
                                                  const std::string& lead,
                                                  const Text& batch) {
  const auto size = static_cast<int64_t>(batch.bytes.size());
  const int64_t missing = std::min(InFlight(), size);
  const int64_t done = size - missing;
  std::function<void()> tell;
  if (end == WriteEnd::kFailed) {
    const bool lead_written = InFlight() <= size;
    if (done > 0) {
      at_line_start = batch.bytes[static_cast<size_t>(done) - 1] == '\n';
    } else {
      at_line_start = lead.empty() || !lead_written ? was_at_line_start : true;
    }
    if (lead_written) failed = 0;
    failed += missing;
    loss.failed += missing;
    if (loss.error == 0 && on_error) {
      tell = [call = on_error, error = write_error] { call(error); };
    }
    if (loss.error == 0) loss.error = write_error;
  } else {
    if (end == WriteEnd::kWritten) failed = 0;
    left = end == WriteEnd::kLeft;
  }
  queued_bytes -= batch.bytes.size();
  writing = false;
  if (IsDone()) waited_since.reset();
  return tell;
}

void ConsoleWriter::State::Run() {
  BlockSignals();  // so that the main thread handles them

  std::unique_lock<std::mutex> lock(mutex);
  while (!stopping && !left) {
    if (queue.empty() && dropped > 0) Add("", Source::kOurselves);
    if (queue.empty()) {
      changed.wait(lock);
      continue;
    }
    const Text batch = NextBatch();
    const std::string lead = LeadOf(batch);
    writing = true;
    writing_source = batch.source;
    batch_end =
        written + static_cast<int64_t>(lead.size() + batch.bytes.size());
    was_at_line_start = at_line_start;
    at_line_start = batch.bytes.back() == '\n';
    lock.unlock();
    const WriteEnd end =
        WriteUnlessWoken(lead.empty() ? batch.bytes : lead + batch.bytes);
    lock.lock();
    const std::function<void()> tell = After(end, lead, batch);
    std::function<void()> room;
    if (room_wanted && (left || queued_bytes <= limits.room_bytes / 2)) {
      room_wanted = false;
      room = on_room;
    }
    changed.notify_all();
    if (!tell && !room) continue;
    lock.unlock();
    if (tell) tell();
    if (room) room();
    lock.lock();
  }
  queue.clear();
  queued_bytes = 0;
  ended = true;
  changed.notify_all();
}

// Whether `bytes` more bytes of text may be queued. If not, counts the bytes as
// missing: in `dropped`, which the next note on the console reports, in
// loss.unread, or in both. Counts nothing once the console cannot be written
// any more (`left`).
bool ConsoleWriter::State::Takes(size_t bytes, Source source) {
  if (left || bytes == 0) return false;
  const auto count = static_cast<int64_t>(bytes);
  if (given_up && source == Source::kWorkers) {
    loss.unread += count;
    return false;
  }
  const bool drops = limits.when_full == WhenFull::kDrop;
  size_t most = drops ? limits.room_bytes : limits.limit_bytes;
  // Once text was dropped, new text is accepted only after the queue has shrunk
  // to half its limit. This gives one long gap with one note, which is easier
  // to read than many short gaps.
  if (dropped > 0) most /= 2;
  if (queued_bytes + bytes <= most || queue.empty()) return true;
  dropped += count;
  (drops ? loss.dropped : loss.unread) += count;
  return false;
}

void ConsoleWriter::State::Add(std::string bytes, Source source) {
  if (dropped > 0) {
    bytes.insert(0, "[" + std::to_string(std::exchange(dropped, 0)) +
                        " bytes were dropped here: the console did not keep "
                        "up]\n");
  }
  const bool was_empty = queue.empty();
  queued_bytes += bytes.size();
  queue.push_back({std::move(bytes), source});
  if (was_empty) changed.notify_all();
}

void ConsoleWriter::State::BeginWait(Instant now) {
  if (!waited_since) waited_since = now;
}

ConsoleWriter::WaitEnd ConsoleWriter::State::WaitUntil(
    const WaitLimits& limits, const std::function<bool()>& is_done) {
  std::unique_lock<std::mutex> lock(mutex);
  BeginWait(MonotonicNow());
  const Instant began = *waited_since;
  while (!is_done()) {
    lock.unlock();
    const Duration bound = limits.Bound();
    lock.lock();
    if (is_done()) break;
    const Instant since = std::max(began, taken_at.load());
    const Duration left_over = bound - (MonotonicNow() - since);
    if (left_over <= Duration::zero()) return WaitEnd::kStalled;
    changed.wait_for(lock, std::min<Duration>(left_over, kAskEvery));
  }
  return WaitEnd::kDone;
}

ConsoleWriter::ConsoleWriter(int fd, Limits limits)
    : state_(std::make_shared<State>(fd, limits)) {}

ConsoleWriter::~ConsoleWriter() {
  std::unique_lock<std::mutex> lock(state_->mutex);
  // The writer's thread may still be blocked in a write when this object is
  // gone. The callbacks are removed, so that the thread cannot call into
  // destroyed objects.
  state_->on_room = nullptr;
  state_->on_error = nullptr;
  if (!state_->thread.joinable()) return;
  state_->stopping = true;
  uint64_t one = 1;
  (void)!write(state_->wake, &one, sizeof one);
  state_->changed.notify_all();
  bool ended = state_->changed.wait_for(lock, kMaxEndingTime,
                                        [this] { return state_->ended; });
  std::thread thread = std::move(state_->thread);
  lock.unlock();
  if (ended) {
    thread.join();
  } else {
    thread.detach();
  }
}

void ConsoleWriter::Queue(std::string lines, Source source) {
  std::lock_guard<std::mutex> lock(state_->mutex);
  if (!state_->Takes(lines.size(), source)) return;
  lines.insert(0, state_->line.BeforeLines());
  state_->Add(std::move(lines), source);
  StartThread();
}

void ConsoleWriter::Write(std::string lines) {
  Queue(std::move(lines), Source::kOurselves);
}

void ConsoleWriter::WriteOutput(std::string lines) {
  Queue(std::move(lines), Source::kWorkers);
}

void ConsoleWriter::WriteOutput(const LinePart& part) {
  std::lock_guard<std::mutex> lock(state_->mutex);
  const size_t bytes = part.text.size() + (part.ends ? 1 : 0);
  if (!state_->Takes(bytes, Source::kWorkers)) return;
  // The note about dropped text is a line of its own, so an unfinished line is
  // ended before it.
  if (state_->dropped > 0) {
    state_->Add(state_->line.BeforeLines(), Source::kOurselves);
  }
  std::string composed = state_->line.Compose(part);
  if (composed.empty()) return;
  state_->Add(std::move(composed), Source::kWorkers);
  StartThread();
}

void ConsoleWriter::StartThread() {
  if (state_->thread.joinable()) return;
  state_->thread = std::thread([shared = state_] { shared->Run(); });
}

bool ConsoleWriter::HasRoom() {
  std::lock_guard<std::mutex> lock(state_->mutex);
  if (state_->HasRoom()) return true;
  state_->room_wanted = true;
  return false;
}

bool ConsoleWriter::HasSpareRoom() const {
  std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->left || state_->queued_bytes < state_->limits.limit_bytes / 2;
}

int64_t ConsoleWriter::written() const { return state_->written; }

void ConsoleWriter::SetOnRoom(std::function<void()> on_room) {
  std::lock_guard<std::mutex> lock(state_->mutex);
  state_->on_room = std::move(on_room);
}

void ConsoleWriter::SetOnError(std::function<void(int)> on_error) {
  std::lock_guard<std::mutex> lock(state_->mutex);
  state_->on_error = std::move(on_error);
}

void ConsoleWriter::BeginWait(Instant now) {
  std::lock_guard<std::mutex> lock(state_->mutex);
  state_->BeginWait(now);
}

ConsoleWriter::WaitEnd ConsoleWriter::Wait(const WaitLimits& limits) {
  return state_->WaitUntil(limits, [this] { return state_->IsDone(); });
}

ConsoleWriter::WaitEnd ConsoleWriter::WaitForRoom(const WaitLimits& limits) {
  return state_->WaitUntil(limits, [this] { return state_->HasRoom(); });
}

bool ConsoleWriter::Flush(Duration timeout) {
  std::unique_lock<std::mutex> lock(state_->mutex);
  return state_->changed.wait_for(lock, timeout,
                                  [this] { return state_->IsDone(); });
}

void ConsoleWriter::GiveUp() {
  std::function<void()> room;
  {
    std::lock_guard<std::mutex> lock(state_->mutex);
    if (std::exchange(state_->given_up, true)) return;
    std::deque<State::Text> own;
    for (State::Text& text : state_->queue) {
      if (text.source == Source::kOurselves) {
        own.push_back(std::move(text));
        continue;
      }
      state_->queued_bytes -= text.bytes.size();
      state_->loss.unread += static_cast<int64_t>(text.bytes.size());
    }
    state_->queue.swap(own);
    // Resets the record of the unfinished line on the console, because the
    // discarded text may have contained the end of this line.
    state_->line.BeforeLines();
    if (!state_->at_line_start && state_->queue.empty()) {
      state_->line.LeaveOpen();
    } else if (!state_->at_line_start) {
      state_->queue.front().bytes.insert(0, "\n");
      ++state_->queued_bytes;
    }
    if (std::exchange(state_->room_wanted, false)) room = state_->on_room;
    state_->changed.notify_all();
  }
  if (room) room();
}

ConsoleWriter::Loss ConsoleWriter::loss() const {
  std::lock_guard<std::mutex> lock(state_->mutex);
  Loss loss = state_->loss;
  if (state_->given_up && state_->writing_source == Source::kWorkers) {
    loss.unread += state_->InFlight();
  }
  return loss;
}

}  // namespace muster::agent
