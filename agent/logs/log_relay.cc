#include "agent/logs/log_relay.h"

#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include "agent/logs/pipe_reader.h"
#include "base/blocked_signals.h"
#include "base/folder.h"
#include "base/monotonic_clock.h"

namespace muster::agent {
namespace {

// size in bytes of the buffer with which the relay's thread reads pipes
constexpr size_t kReadBytes = 256 << 10;
// size in bytes of the buffer with which Flush and similar functions drain
// pipes; the buffer is on the calling thread's stack
constexpr size_t kDrainBytes = 16 << 10;
constexpr int kPipeBytes = 1 << 20;
// The maximum number of pipes of this agent that get a large buffer. All
// processes of a user on this node, other agents included, share 64 MiB of pipe
// buffers (/proc/sys/fs/pipe-user-pages-soft). Beyond this limit the kernel
// makes new pipes tiny.
constexpr int kMaxLargePipes = 16;
constexpr uint64_t kWakeId = 0;

// An eventfd that wakes the relay's thread. Its ownership is shared, because
// the console's thread may use it after the relay has been destroyed.
class WakeFd {
 public:
  WakeFd() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  ~WakeFd() {
    if (fd_ >= 0) close(fd_);
  }
  WakeFd(const WakeFd&) = delete;
  WakeFd& operator=(const WakeFd&) = delete;

  int get() const { return fd_; }
  void Wake() const {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(fd_, &one, sizeof one);
  }
  void Clear() const {
    uint64_t count;
    [[maybe_unused]] const ssize_t got = read(fd_, &count, sizeof count);
  }

 private:
  const int fd_;
};

}  // namespace

class LogRelay::Impl {
 public:
  Impl(LogPlan plan, std::shared_ptr<Console> console,
       std::shared_ptr<LogAccount> account)
      : files_(Trouble(*console)),
        folders_(Trouble(*console)),
        router_(std::move(plan), &files_, std::move(console),
                std::move(account)) {
    router_.console().SetOnRoom([wake = wake_] { wake->Wake(); });
    files_.SetOnRoom([wake = wake_] { wake->Wake(); });
  }
  ~Impl();

  const LogRouter& router() const { return router_; }
  FileQueue& folders() { return folders_; }
  absl::Status CheckWritable();
  bool BeginRound(const std::string& run_tag) {
    std::lock_guard<std::mutex> lock(mutex_);
    return router_.BeginRound(run_tag);
  }
  absl::StatusOr<Pipes> Open(const Worker& worker);
  std::vector<std::string> StderrTail(int local_rank);
  HeldUp HeldUpFor(int local_rank);
  bool Flush(const ConsoleWriter::WaitLimits& limits);
  void Finish(const ConsoleWriter::WaitLimits& limits);

 private:
  using Reader = std::shared_ptr<PipeReader>;

  static FileQueue::OnTrouble Trouble(const Console& console);
  absl::Status StartThread();
  absl::StatusOr<PipeReader::Made> Make(const Worker& worker, StreamSet stream);
  absl::StatusOr<int> Add(const Worker& worker, StreamSet stream,
                          OwnedFd* terminal);
  void ForgetIfEnded(uint64_t id, PipeReader::Outcome outcome);
  Reader Find(uint64_t id);
  void Run();
  void Serve(uint64_t id, std::span<char> buffer);
  bool FinishFiles(const ConsoleWriter::WaitLimits& limits);
  void ResumeAll();
  void ShowPartials();
  int Timeout(std::optional<Instant> room);
  std::vector<std::pair<uint64_t, Reader>> OpenReaders();
  void DrainAll();

  int epoll_ = -1;
  // An eventfd that becomes readable once the console has room again, or the
  // relay is being destroyed.
  const std::shared_ptr<const WakeFd> wake_ = std::make_shared<WakeFd>();
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
  // The time at which each stream's unfinished line must be shown; used by the
  // relay's thread only.
  std::map<uint64_t, Instant> partials_;

  FileQueue files_;  // queue of writes to the log files
  // queue of all work in the log folder except writes to log files, such as
  // making and removing folders
  FileQueue folders_;

  std::mutex mutex_;  // guards the fields below
  // router of the streams; its non-const functions are called only with mutex_
  // held, or in the destructor
  LogRouter router_;
  uint64_t next_id_ = kWakeId + 1;
  // readers of the streams that have not ended, by stream id
  std::map<uint64_t, Reader> open_;
  // A pause in which the pipe of a stream is not read. `since`: the start of
  // the pause. `by`: its cause, a full console or a full queue of writes to the
  // log files.
  struct Hold {
    Instant since;
    HeldUp::By by;
  };
  std::map<uint64_t, Hold> held_up_;
  // For each local rank, the id and reader of the newest stderr, even if that
  // stream has ended.
  std::map<int, std::pair<uint64_t, Reader>> last_stderr_;
  std::map<int, uint64_t> last_stdout_;
  bool finished_ = false;
};

FileQueue::OnTrouble LogRelay::Impl::Trouble(const Console& console) {
  return [err = console.err()](const std::string& sentence) {
    err->Write("[muster] log: " + sentence + "\n");
  };
}

absl::Status LogRelay::Impl::CheckWritable() {
  const std::string& directory = router_.directory();
  if (directory.empty()) return absl::OkStatus();
  const std::string& run = router_.run_folder();
  const std::string& folder = run.empty() ? directory : run;
  const auto outcome = std::make_shared<absl::Status>();
  const bool done = folders_.Do(
      folder,
      [directory, run, outcome] {
        *outcome = CheckLogFolderWritable(directory, run);
      },
      kCheckTimeout);
  if (done) return *outcome;
  return absl::DeadlineExceededError(
      folder + " has not answered for " +
      std::to_string(
          std::chrono::floor<std::chrono::seconds>(kCheckTimeout).count()) +
      " s: its file system seems to hang");
}

LogRelay::Impl::~Impl() {
  if (thread_.joinable()) {
    stopping_ = true;
    wake_->Wake();
    thread_.join();
  }
  router_.console().SetOnRoom(nullptr);
  files_.SetOnRoom(nullptr);
  if (!finished_) Flush({.without_progress = std::chrono::seconds(1)});
  DrainAll();
  // Destroy the readers of the streams' pipes. Each reader ends its stream: the
  // console gets an unterminated last line, and the stream's log file is
  // closed.
  open_.clear();
  last_stderr_.clear();
  router_.CloseFilteredFiles();
  if (epoll_ >= 0) close(epoll_);
}

absl::Status LogRelay::Impl::StartThread() {
  if (thread_.joinable()) return absl::OkStatus();
  if (epoll_ < 0) epoll_ = epoll_create1(EPOLL_CLOEXEC);
  epoll_event event = {.events = EPOLLIN, .data = {.u64 = kWakeId}};
  if (epoll_ < 0 || wake_->get() < 0 ||
      epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_->get(), &event) != 0) {
    return PathStatus("cannot poll", "workers' output", errno);
  }
  thread_ = std::thread([this] { Run(); });
  return absl::OkStatus();
}

absl::StatusOr<PipeReader::Made> LogRelay::Impl::Make(const Worker& worker,
                                                      StreamSet stream) {
  if (auto passage = router_.PassageOf(worker, stream)) {
    WorkerStream passed(router_.SinksFor(worker, stream));
    auto made = PipeReader::MakeTerminal(passage->terminal,
                                         std::move(passage->console), &passed);
    if (made) return *std::move(made);
  }
  // The stream is not passed on to a terminal, or no pseudo-terminal is
  // available: the worker writes to a pipe, and its lines are printed with
  // prefixes.
  Worker piped = worker;
  piped.alone = false;
  int capacity = open_.size() < kMaxLargePipes ? kPipeBytes : 0;
  return PipeReader::Make(capacity,
                          WorkerStream(router_.SinksFor(piped, stream)));
}

absl::StatusOr<int> LogRelay::Impl::Add(const Worker& worker, StreamSet stream,
                                        OwnedFd* terminal) {
  absl::StatusOr<PipeReader::Made> made = Make(worker, stream);
  if (!made.ok()) return made.status();
  *terminal = std::move(made->terminal);
  uint64_t id = next_id_++;
  if (!made->reader->Watch(epoll_, id)) {
    absl::Status status = PathStatus("cannot poll", "a worker's output", errno);
    close(made->write_fd);
    return status;
  }
  if (stream == StreamSet::kErr) {
    last_stderr_[worker.local_rank] = {id, made->reader};
  } else {
    last_stdout_[worker.local_rank] = id;
  }
  open_[id] = std::move(made->reader);
  return made->write_fd;
}

absl::StatusOr<LogRelay::Pipes> LogRelay::Impl::Open(const Worker& worker) {
  std::lock_guard<std::mutex> lock(mutex_);
  absl::Status started = StartThread();
  if (!started.ok()) return started;
  Pipes pipes;
  absl::StatusOr<int> out =
      Add(worker, StreamSet::kOut, &pipes.stdout_terminal);
  if (!out.ok()) return out.status();
  absl::StatusOr<int> err =
      Add(worker, StreamSet::kErr, &pipes.stderr_terminal);
  if (!err.ok()) {
    close(*out);
    return err.status();
  }
  pipes.stdout_fd = *out;
  pipes.stderr_fd = *err;
  return pipes;
}

LogRelay::Impl::Reader LogRelay::Impl::Find(uint64_t id) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto found = open_.find(id);
  return found == open_.end() ? nullptr : found->second;
}

// Removes the worker's stream with this id if `outcome` says that the stream
// has ended. The stream's PipeReader has already closed the descriptor.
void LogRelay::Impl::ForgetIfEnded(uint64_t id, PipeReader::Outcome outcome) {
  if (outcome != PipeReader::Outcome::kEnded) return;
  std::lock_guard<std::mutex> lock(mutex_);
  open_.erase(id);
  held_up_.erase(id);
}

void LogRelay::Impl::Run() {
  BlockSignals();
  // The buffer is not initialised, so that a short job does not touch all its
  // pages.
  auto memory = std::make_unique_for_overwrite<char[]>(kReadBytes);
  std::span<char> buffer(memory.get(), kReadBytes);
  epoll_event events[32];
  while (true) {
    const std::optional<Instant> room = files_.RoomAt();
    const int count =
        epoll_wait(epoll_, events, std::size(events), Timeout(room));
    bool may_have_room = false;
    for (int i = 0; i < count; ++i) {
      const uint64_t id = events[i].data.u64;
      if (id != kWakeId) {
        Serve(id, buffer);
        continue;
      }
      if (stopping_) return;
      wake_->Clear();
      may_have_room = true;
    }
    // While the queue of file writes is full, streams are paused (not read).
    // `room`: the time at which the log files' file system counts as hung if it
    // completes no work until then. From then on, output that does not fit in
    // the queue is dropped. So the paused streams are read again.
    may_have_room = may_have_room || (room && MonotonicNow() >= *room);
    if (may_have_room) ResumeAll();
    ShowPartials();
    files_.Look();
  }
}

// Reads a stream's pipe once. If the console, or the queue of writes to the log
// files, is full, reads nothing, and stops watching the pipe until there is
// room.
void LogRelay::Impl::Serve(uint64_t id, std::span<char> buffer) {
  const Reader reader = Find(id);
  if (reader == nullptr) return;
  if (!reader->HasRoom()) {
    if (!reader->Unwatch(epoll_)) return;
    const auto by = files_.RoomAt() ? HeldUp::By::kFiles : HeldUp::By::kConsole;
    std::lock_guard<std::mutex> lock(mutex_);
    if (open_.count(id) > 0) held_up_.emplace(id, Hold{MonotonicNow(), by});
    return;
  }
  ForgetIfEnded(id, reader->ReadSome(buffer));
  if (const std::optional<Instant> due = reader->NextDeadline()) {
    partials_[id] = *due;
  } else {
    partials_.erase(id);
  }
}

void LogRelay::Impl::ResumeAll() {
  std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [id, hold] : held_up_) {
    const auto found = open_.find(id);
    if (found != open_.end()) found->second->Watch(epoll_, id);
  }
  held_up_.clear();
}

// The time in milliseconds until the relay's thread must act again; -1: it has
// nothing to do until an event comes. `room`: the time at which the log files'
// file system counts as hung. Until then, streams whose log files accept no
// more output are not read. From then on they are read again, without log
// files. nullopt: all streams are read.
int LogRelay::Impl::Timeout(std::optional<Instant> room) {
  std::optional<Instant> next = files_.NextLook();
  if (room) next = std::min(next.value_or(*room), *room);
  for (const auto& [id, due] : partials_)
    next = std::min(next.value_or(due), due);
  if (!next) return -1;
  const Duration left = std::max(*next - MonotonicNow(), Duration::zero());
  return static_cast<int>(
      std::chrono::ceil<std::chrono::milliseconds>(left).count());
}

void LogRelay::Impl::ShowPartials() {
  if (partials_.empty()) return;
  const Instant now = MonotonicNow();
  for (auto at = partials_.begin(); at != partials_.end();) {
    const Reader reader = now < at->second ? nullptr : Find(at->first);
    if (now < at->second) {
      ++at;
      continue;
    }
    if (reader != nullptr) reader->TimePassed(now);
    const std::optional<Instant> due =
        reader == nullptr ? std::nullopt : reader->NextDeadline();
    if (due) at->second = *due;
    at = due ? std::next(at) : partials_.erase(at);
  }
}

std::vector<std::pair<uint64_t, LogRelay::Impl::Reader>>
LogRelay::Impl::OpenReaders() {
  std::lock_guard<std::mutex> lock(mutex_);
  return {open_.begin(), open_.end()};
}

void LogRelay::Impl::DrainAll() {
  char buffer[kDrainBytes];
  for (auto& [id, reader] : OpenReaders()) {
    ForgetIfEnded(id, reader->Drain(buffer));
  }
}

std::vector<std::string> LogRelay::Impl::StderrTail(int local_rank) {
  std::pair<uint64_t, Reader> found;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    auto at = last_stderr_.find(local_rank);
    if (at == last_stderr_.end()) return {};
    found = at->second;
  }
  char buffer[kDrainBytes];
  ForgetIfEnded(found.first, found.second->Drain(buffer));
  return found.second->LastLines();
}

LogRelay::HeldUp LogRelay::Impl::HeldUpFor(int local_rank) {
  std::lock_guard<std::mutex> lock(mutex_);
  HeldUp longest;
  const auto look = [&](uint64_t id) {
    const auto found = held_up_.find(id);
    if (found == held_up_.end()) return;
    const Duration time = MonotonicNow() - found->second.since;
    if (time > longest.time) longest = {time, found->second.by};
  };
  const auto out = last_stdout_.find(local_rank);
  if (out != last_stdout_.end()) look(out->second);
  const auto err = last_stderr_.find(local_rank);
  if (err != last_stderr_.end()) look(err->second.first);
  return longest;
}

bool LogRelay::Impl::Flush(const ConsoleWriter::WaitLimits& limits) {
  Console& console = router_.console();
  bool all = true;
  char buffer[kDrainBytes];
  for (auto& [id, reader] : OpenReaders()) {
    if (!reader->HasRoom()) all = console.WaitForRoom(limits) && all;
    ForgetIfEnded(id, reader->Drain(buffer));
  }
  all = console.Wait(limits) && all;
  return FinishFiles(limits) && all;
}

bool LogRelay::Impl::FinishFiles(const ConsoleWriter::WaitLimits& limits) {
  FileQueue::WaitLimits files;
  files.end_signals = limits.end_signals;
  if (files_.Finish(files)) return folders_.Finish(files);
  // The file system of the log files hangs. folders_, the queue of all other
  // operations in the log folder, most likely hangs as well. So the wait for
  // this queue is short.
  files.without_progress = std::chrono::seconds(1);
  folders_.Finish(files);
  return false;
}

void LogRelay::Impl::Finish(const ConsoleWriter::WaitLimits& limits) {
  finished_ = true;
  Console& console = router_.console();
  char buffer[kDrainBytes];
  for (auto& [id, reader] : OpenReaders()) {
    if (!reader->HasRoom()) console.MakeRoom(limits);
    ForgetIfEnded(id, reader->Drain(buffer));
  }
  console.Finish(limits);
  FinishFiles(limits);
}

LogRelay::LogRelay(LogPlan plan, std::shared_ptr<Console> console,
                   std::shared_ptr<LogAccount> account)
    : impl_(std::make_unique<Impl>(
          std::move(plan),
          console != nullptr ? std::move(console) : std::make_shared<Console>(),
          account != nullptr ? std::move(account)
                             : std::make_shared<LogAccount>())) {}
LogRelay::~LogRelay() = default;

absl::Status LogRelay::CheckWritable() { return impl_->CheckWritable(); }
FileQueue& LogRelay::folders() { return impl_->folders(); }
bool LogRelay::BeginRound(const std::string& run_tag) {
  return impl_->BeginRound(run_tag);
}
absl::StatusOr<LogRelay::Pipes> LogRelay::Open(const Worker& worker) {
  return impl_->Open(worker);
}
std::string LogRelay::DirectoryOf(int attempt, int rank) const {
  return impl_->router().DirectoryOf(attempt, rank);
}
const std::shared_ptr<RecentOutput>& LogRelay::recent() const {
  return impl_->router().recent();
}
std::vector<std::string> LogRelay::StderrTail(int local_rank) {
  return impl_->StderrTail(local_rank);
}
LogRelay::HeldUp LogRelay::HeldUpFor(int local_rank) {
  return impl_->HeldUpFor(local_rank);
}
bool LogRelay::Flush(const ConsoleWriter::WaitLimits& limits) {
  return impl_->Flush(limits);
}
void LogRelay::Finish(const ConsoleWriter::WaitLimits& limits) {
  impl_->Finish(limits);
}
const std::string& LogRelay::RunFolder() const {
  return impl_->router().run_folder();
}

}  // namespace muster::agent
