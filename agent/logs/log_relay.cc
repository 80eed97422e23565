#include "agent/logs/log_relay.h"

#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <thread>
#include <utility>

#include "agent/logs/pipe_reader.h"
#include "base/log_folder.h"

namespace muster {
namespace {

constexpr size_t kReadBytes = 256 << 10;  // by the relay's thread
constexpr size_t kDrainBytes = 16 << 10;  // on the stack of whoever drains
constexpr int kPipeBytes = 1 << 20;
// A user may have 64 MiB of pipes before all of them become tiny
// (/proc/sys/fs/pipe-user-pages-soft), and other agents may be there too.
constexpr int kMostLargePipes = 16;
constexpr uint64_t kWakeId = 0;

void BlockSignals() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
}

}  // namespace

class LogRelay::Impl {
 public:
  Impl(LogPlan plan, ConsoleFds console) : router_(std::move(plan), console) {}
  ~Impl();

  const LogRouter& router() const { return router_; }
  absl::StatusOr<Pipes> Open(const Worker& worker);
  std::vector<std::string> StderrTail(int local_rank);
  void Flush();

 private:
  using Reader = std::shared_ptr<PipeReader>;

  absl::Status StartThread();
  absl::StatusOr<int> Add(const Worker& worker, Streams stream);
  void ForgetIfEnded(uint64_t id, PipeReader::Outcome outcome);
  Reader Find(uint64_t id);
  void Run();
  void DrainAll();

  int epoll_ = -1;
  int wake_ = -1;  // readable once the relay is being destroyed
  std::thread thread_;

  std::mutex mutex_;  // guards what follows
  LogRouter router_;  // but for what is const or thread-safe in it
  uint64_t next_id_ = kWakeId + 1;
  std::map<uint64_t, Reader> open_;  // those that have not ended
  // By local rank: the newest, ended or not, and its id.
  std::map<int, std::pair<uint64_t, Reader>> last_stderr_;
  // The console did not empty its queue in time when it was last waited for;
  // the destructor then does not wait for it again.
  bool console_stuck_ = false;
};

LogRelay::Impl::~Impl() {
  if (thread_.joinable()) {
    uint64_t one = 1;
    (void)!write(wake_, &one, sizeof one);
    thread_.join();
  }
  DrainAll();
  // Ends the streams: shows unterminated lines, tells troubles.
  open_.clear();
  last_stderr_.clear();
  router_.CloseFilteredFiles();
  if (!console_stuck_) Flush();
  if (epoll_ >= 0) close(epoll_);
  if (wake_ >= 0) close(wake_);
}

absl::Status LogRelay::Impl::StartThread() {
  if (thread_.joinable()) return absl::OkStatus();
  if (epoll_ < 0) epoll_ = epoll_create1(EPOLL_CLOEXEC);
  if (wake_ < 0) wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  epoll_event event = {.events = EPOLLIN, .data = {.u64 = kWakeId}};
  if (epoll_ < 0 || wake_ < 0 ||
      epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &event) != 0) {
    return PathStatus("cannot poll", "workers' output", errno);
  }
  thread_ = std::thread([this] { Run(); });
  return absl::OkStatus();
}

absl::StatusOr<int> LogRelay::Impl::Add(const Worker& worker, Streams stream) {
  int capacity = open_.size() < kMostLargePipes ? kPipeBytes : 0;
  absl::StatusOr<PipeReader::Made> made = PipeReader::Make(
      capacity, WorkerStream(router_.SinksFor(worker, stream)));
  if (!made.ok()) return made.status();
  uint64_t id = next_id_++;
  epoll_event event = {.events = EPOLLIN, .data = {.u64 = id}};
  if (epoll_ctl(epoll_, EPOLL_CTL_ADD, made->reader->fd(), &event) != 0) {
    absl::Status status = PathStatus("cannot poll", "a worker's output", errno);
    close(made->write_fd);
    return status;
  }
  if (stream == Streams::kErr) {
    last_stderr_[worker.local_rank] = {id, made->reader};
  }
  open_[id] = std::move(made->reader);
  return made->write_fd;
}

absl::StatusOr<LogRelay::Pipes> LogRelay::Impl::Open(const Worker& worker) {
  std::lock_guard<std::mutex> lock(mutex_);
  absl::Status started = StartThread();
  if (!started.ok()) return started;
  absl::StatusOr<int> out = Add(worker, Streams::kOut);
  if (!out.ok()) return out.status();
  absl::StatusOr<int> err = Add(worker, Streams::kErr);
  if (!err.ok()) {
    close(*out);
    return err.status();
  }
  return Pipes{*out, *err};
}

LogRelay::Impl::Reader LogRelay::Impl::Find(uint64_t id) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto found = open_.find(id);
  return found == open_.end() ? nullptr : found->second;
}

// Called by whoever read the end of a stream: it closes the descriptor, so that
// nobody else hears of it.
void LogRelay::Impl::ForgetIfEnded(uint64_t id, PipeReader::Outcome outcome) {
  if (outcome != PipeReader::Outcome::kEnded) return;
  std::lock_guard<std::mutex> lock(mutex_);
  open_.erase(id);
}

void LogRelay::Impl::Run() {
  BlockSignals();
  // Not cleared: a short job need not touch its pages.
  auto memory = std::make_unique_for_overwrite<char[]>(kReadBytes);
  std::span<char> buffer(memory.get(), kReadBytes);
  epoll_event events[32];
  while (true) {
    int count = epoll_wait(epoll_, events, std::size(events), -1);
    for (int i = 0; i < count; ++i) {
      uint64_t id = events[i].data.u64;
      if (id == kWakeId) return;
      Reader reader = Find(id);
      if (reader != nullptr) ForgetIfEnded(id, reader->ReadSome(buffer));
    }
  }
}

void LogRelay::Impl::DrainAll() {
  std::vector<std::pair<uint64_t, Reader>> readers;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    readers.assign(open_.begin(), open_.end());
  }
  char buffer[kDrainBytes];
  for (auto& [id, reader] : readers) {
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

void LogRelay::Impl::Flush() {
  DrainAll();
  bool flushed = router_.FlushConsole();
  std::lock_guard<std::mutex> lock(mutex_);
  console_stuck_ = !flushed;
}

LogRelay::LogRelay(LogPlan plan, ConsoleFds console)
    : impl_(std::make_unique<Impl>(std::move(plan), console)) {}
LogRelay::~LogRelay() = default;

absl::Status LogRelay::CheckWritable() {
  return impl_->router().CheckWritable();
}
absl::StatusOr<LogRelay::Pipes> LogRelay::Open(const Worker& worker) {
  return impl_->Open(worker);
}
std::string LogRelay::DirectoryOf(int attempt, int rank) const {
  return impl_->router().DirectoryOf(attempt, rank);
}
std::vector<std::string> LogRelay::StderrTail(int local_rank) {
  return impl_->StderrTail(local_rank);
}
void LogRelay::Flush() { impl_->Flush(); }

}  // namespace muster
