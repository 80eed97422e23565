#include "rendezvous/journal/journal.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/blocked_signals.h"
#include "base/check.h"
#include "base/monotonic_clock.h"
#include "rendezvous/journal/journal_file.h"

namespace muster::rendezvous {
namespace {

// Runs `body` in a thread that handles no signals.
absl::StatusOr<std::thread> StartThread(std::function<void()> body) {
  const BlockedSignals blocked;
  absl::StatusOr<std::thread> thread =
      absl::ResourceExhaustedError("cannot start the journal's thread");
  try {
    thread = std::thread(std::move(body));
  } catch (const std::system_error&) {
    // No thread could be started. Do nothing: `thread` still holds the error
    // that is returned below.
  }
  return thread;
}

}  // namespace

struct Journal::State : std::enable_shared_from_this<Journal::State> {
  State(std::string file_path, const Limits& time_limits)
      : path(std::move(file_path)),
        limits(time_limits),
        pending(path, time_limits) {}

  void Add(const std::string& run_id, std::optional<std::string> record,
           std::function<void()> done);
  // Starts the next write in the thread of `queue`. Does nothing if no change
  // waits to be written, a write is in progress, the last write failed a moment
  // ago, or the journal is not open. Requires `mutex`.
  void Schedule();
  // Writes one batch to the medium, and then schedules the next write. Blocks
  // for as long as the medium does. Runs in the thread of `queue`.
  void Write();
  // The body of the thread that calls the `done` callbacks.
  void Call();
  // Whether the journal is being closed and starts no further write. True if
  // nothing is left to write, a write has failed since the close began, or
  // the time GiveUpAt() has passed. Requires `mutex`.
  bool HasEnded(Instant now) const;
  // The time at which HasEnded becomes true even if the medium (disk or etcd)
  // does not answer. Requires `mutex`.
  Instant GiveUpAt() const;

  const std::string path;
  const Limits limits;
  // the disk or etcd; used only by the thread of `queue`
  std::unique_ptr<JournalBackend> medium;

  std::mutex mutex;                 // guards the fields below
  std::condition_variable changed;  // wakes the thread that runs Call
  PendingRecords pending;
  // A change whose `done` was not called yet.
  struct Waiting {
    uint64_t number;             // the change's number from PendingRecords::Add
    std::function<void()> done;  // callback of Put; may be empty
  };
  std::deque<Waiting> waiting;
  FileQueue* queue = nullptr;  // null while the journal is not open
  std::optional<Instant> closing_since;
  bool last_attempt_failed = false;
};

void Journal::State::Add(const std::string& run_id,
                         std::optional<std::string> record,
                         std::function<void()> done) {
  std::lock_guard<std::mutex> lock(mutex);
  waiting.push_back({.number = pending.Add(run_id, std::move(record)),
                     .done = std::move(done)});
  Schedule();
  if (pending.released() >= waiting.front().number) changed.notify_one();
}

void Journal::State::Schedule() {
  const Instant now = MonotonicNow();
  if (queue == nullptr || !pending.MayWrite(now)) return;
  pending.Begin(now);
  const bool posted =
      queue->Post(path, [self = shared_from_this()] { self->Write(); });
  // Post cannot fail: the queue holds at most one task, and Open has started
  // the queue's thread.
  MUSTER_CHECK(posted);
  changed.notify_one();  // wake Call: this write changes its next deadline
}

void Journal::State::Write() {
  const absl::StatusOr<PendingRecords::Refused> written =
      medium->Write(pending.batch());
  std::lock_guard<std::mutex> lock(mutex);
  if (written.ok()) {
    pending.Succeeded(*written);
  } else {
    pending.Failed(MonotonicNow(), std::string(written.status().message()));
    if (closing_since) last_attempt_failed = true;
  }
  Schedule();
  changed.notify_one();
}

Instant Journal::State::GiveUpAt() const {
  const Instant in_all = *closing_since + limits.close_within;
  if (!pending.writing_since()) return in_all;
  return std::min(in_all, *pending.writing_since() + limits.close_within);
}

bool Journal::State::HasEnded(Instant now) const {
  return closing_since &&
         (pending.IsIdle() || last_attempt_failed || now >= GiveUpAt());
}

void Journal::State::Call() {
  std::unique_lock<std::mutex> lock(mutex);
  while (true) {
    const Instant now = MonotonicNow();
    pending.Look(now);
    Schedule();
    const bool ended = HasEnded(now);
    std::vector<std::function<void()>> ready;
    while (!waiting.empty() &&
           (ended || waiting.front().number <= pending.released())) {
      std::function<void()>& done = waiting.front().done;
      if (done) ready.push_back(std::move(done));
      waiting.pop_front();
    }
    if (!ready.empty()) {
      lock.unlock();
      for (const std::function<void()>& done : ready) done();
      ready.clear();  // destroy the callbacks without the lock
      lock.lock();
      continue;
    }
    if (ended) return;
    std::optional<Instant> look = pending.NextLook();
    if (closing_since) look = look ? std::min(*look, GiveUpAt()) : GiveUpAt();
    if (look) {
      changed.wait_until(lock, ToSteady(*look));
    } else {
      changed.wait(lock);
    }
  }
}

Journal::Journal(const std::string& path, const Limits& limits)
    : path_(path),
      limits_(limits),
      state_(std::make_shared<State>(path, limits)),
      // The queue reports only that Finish has abandoned unfinished writes.
      // Ignore this report, because ~Journal documents the loss.
      queue_([](const std::string&) {}) {}

absl::StatusOr<std::unique_ptr<Journal>> Journal::Open(
    const std::string& folder, uint64_t least_epoch) {
  return Open(folder, least_epoch, Limits());
}

absl::StatusOr<std::unique_ptr<Journal>> Journal::Open(
    const std::string& folder, uint64_t least_epoch, const Limits& limits) {
  const std::string path = JournalFile::PathIn(folder);
  absl::StatusOr<std::unique_ptr<Journal>> journal = OpenOn(
      path,
      [folder, least_epoch] { return JournalFile::Open(folder, least_epoch); },
      limits);
  if (!absl::IsDeadlineExceeded(journal.status())) return journal;
  return absl::DeadlineExceededError(
      "cannot open " + path +
      ": its file system does not answer; repair it, or name another folder");
}

absl::StatusOr<std::unique_ptr<Journal>> Journal::OpenOn(
    const std::string& name,
    std::function<absl::StatusOr<std::unique_ptr<JournalBackend>>()> open,
    const Limits& limits) {
  std::unique_ptr<Journal> journal(new Journal(name, limits));
  const auto opened =
      std::make_shared<absl::StatusOr<std::unique_ptr<JournalBackend>>>(
          absl::UnknownError(""));
  const bool answered = journal->queue_.Do(
      name, [opened, open = std::move(open)] { *opened = open(); },
      limits.open_within);
  if (!answered) {
    return absl::DeadlineExceededError("cannot open " + name +
                                       ": it does not answer");
  }
  if (!opened->ok()) return opened->status();
  State& state = *journal->state_;
  state.medium = std::move(**opened);
  journal->epoch_ = state.medium->epoch();
  journal->records_ = state.medium->TakeRecords();
  absl::StatusOr<std::thread> caller =
      StartThread([shared = journal->state_] { shared->Call(); });
  if (!caller.ok()) return caller.status();
  journal->caller_ = *std::move(caller);
  std::lock_guard<std::mutex> lock(state.mutex);
  state.queue = &journal->queue_;
  return journal;
}

Journal::~Journal() {
  {
    std::lock_guard<std::mutex> lock(state_->mutex);
    state_->closing_since = MonotonicNow();
    state_->pending.RetryNow();
    state_->changed.notify_one();
  }
  if (caller_.joinable()) caller_.join();
  {
    std::lock_guard<std::mutex> lock(state_->mutex);
    state_->queue = nullptr;
  }
  // The queue's thread closes the medium, because this may hang if the medium
  // does not answer. Finish stops waiting after `close_within`.
  queue_.Post(path_, [state = state_] { state->medium = nullptr; });
  FileQueue::WaitLimits limits;
  limits.without_progress = limits_.close_within;
  limits.in_all = limits_.close_within;
  queue_.Finish(limits);
}

std::map<std::string, std::string> Journal::TakeRecords() {
  std::lock_guard<std::mutex> lock(state_->mutex);
  return std::exchange(records_, {});
}

void Journal::Put(const std::string& run_id, std::string record,
                  std::function<void()> done) {
  state_->Add(run_id, std::move(record), std::move(done));
}

void Journal::Remove(const std::string& run_id) {
  state_->Add(run_id, std::nullopt, nullptr);
}

std::optional<Journal::Trouble> Journal::trouble() const {
  std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->pending.trouble();
}

std::optional<Journal::Trouble> Journal::TroubleOf(
    const std::string& run_id) const {
  std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->pending.TroubleOf(run_id);
}

}  // namespace muster::rendezvous
