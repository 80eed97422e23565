#include "agent/timers/worker_timers.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "agent/guardian/descendants.h"
#include "base/environment_value.h"
#include "base/unix_time.h"
#include "rendezvous/protocol/signal_names.h"

namespace muster::agent {
namespace {

constexpr char kEnable[] = "TORCHELASTIC_ENABLE_FILE_TIMER";
constexpr char kFile[] = "TORCHELASTIC_TIMER_FILE";

// The longest time between two checks for expired timers. Timers use the
// machine's wall clock. If the clock is set forward, a timer may expire at
// once, so the agent checks often even if no timer is due soon.
constexpr Duration kLongestPause = std::chrono::seconds(1);
constexpr int kMaxParents = 1024;

// The process `pid` if it is a descendant of `root`; otherwise nullopt.
std::optional<ProcessEntry> DescendantOf(pid_t root, pid_t pid) {
  const std::optional<ProcessEntry> process = ReadProcess(pid);
  std::optional<ProcessEntry> at = process;
  for (int i = 0; at.has_value() && i < kMaxParents; ++i) {
    if (at->parent == root) return process;
    at = at->parent > 1 ? ReadProcess(at->parent) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

WorkerTimers::Options WorkerTimers::FromEnvironment(
    const std::map<std::string, std::string>& environment) {
  Options options;
  options.enabled = EnvironmentValue(environment, kEnable) == "1";
  options.path = EnvironmentValue(environment, kFile).value_or("");
  return options;
}

WorkerTimers::~WorkerTimers() {
  if (!path_.empty()) unlink(path_.c_str());
}

void WorkerTimers::Open(const std::string& folder, pid_t guardian) {
  if (!options_.enabled) return;
  pipe_.Close();
  if (!path_.empty()) unlink(path_.c_str());
  path_.clear();
  timers_ = FileTimers();
  expired_.clear();
  complained_ = false;
  guardian_ = guardian;
  if (options_.path.empty() && folder.empty()) {
    Notice("no folder for the workers' timers; they run without");
    return;
  }
  const std::string path =
      options_.path.empty() ? folder + "/timers" : options_.path;
  if (!MakePipe(path)) return;
  // The pipe is opened for writing too, so that reads never return end of file.
  pipe_ = OwnedFd(open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!pipe_.open()) {
    Notice(absl::StrCat(path, ": ", std::strerror(errno),
                        "; workers run without timers"));
    return;
  }
  path_ = path;
}

// Makes the named pipe at `path`. Replaces a pipe that no process reads, which
// a killed launcher has left behind.
bool WorkerTimers::MakePipe(const std::string& path) {
  struct stat facts = {};
  if (lstat(path.c_str(), &facts) == 0) {
    const OwnedFd served(open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
    if (!S_ISFIFO(facts.st_mode) || served.open()) {
      Notice(absl::StrCat(kFile, "=", path,
                          served.open() && S_ISFIFO(facts.st_mode)
                              ? ": another launcher serves this pipe"
                              : ": is there and is no pipe",
                          "; workers run without timers, name another file"));
      return false;
    }
    unlink(path.c_str());
  }
  if (mkfifo(path.c_str(), 0600) == 0) return true;
  Notice(absl::StrCat(kFile, "=", path, ": ", std::strerror(errno),
                      "; workers run without timers"));
  return false;
}

std::optional<Instant> WorkerTimers::NextLook(Instant now) const {
  const std::optional<double> next = timers_.NextExpiry();
  if (!pipe_.open() || !next.has_value()) return std::nullopt;
  const double left = std::max(*next - UnixSeconds(), 0.0);
  if (left >= ToSeconds(kLongestPause)) return now + kLongestPause;
  return now + std::chrono::duration_cast<Duration>(
                   std::chrono::duration<double>(left));
}

void WorkerTimers::Look() {
  if (!pipe_.open()) return;
  Read();
  for (const FileTimers::Expired& expired :
       timers_.TakeExpired(UnixSeconds())) {
    Reap(expired);
  }
}

void WorkerTimers::Read() {
  // maximum number of reads in one turn of the agent's event loop
  constexpr int kMaxReads = 64;
  std::array<char, 64 << 10> buffer;
  for (int i = 0; i < kMaxReads; ++i) {
    const ssize_t got = read(pipe_.get(), buffer.data(), buffer.size());
    if (got <= 0) return;
    if (timers_.Take({buffer.data(), static_cast<size_t>(got)}) ||
        complained_) {
      continue;
    }
    complained_ = true;
    Notice(absl::StrCat("what a worker wrote into ", path_,
                        " is no timer request; it is left out"));
  }
}

void WorkerTimers::Reap(const FileTimers::Expired& expired) {
  const auto pid = static_cast<pid_t>(expired.pid);
  const std::string timer =
      absl::StrCat("the timer '", expired.scope, "' of process ", expired.pid);
  const std::optional<ProcessEntry> process =
      pid == expired.pid ? DescendantOf(guardian_, pid) : std::nullopt;
  // Sends no signal if the process has ended, or is not a descendant of the
  // guardian, the workers' parent process.
  if (!process.has_value() || process->state == 'Z') return;
  if (expired.signal == 0) {
    Notice(absl::StrCat(timer, " expired; it asks for no signal"));
    return;
  }
  expired_[pid] = expired.scope;
  Notice(absl::StrCat(timer, " expired; it gets ",
                      rendezvous::SignalName(expired.signal)));
  SignalProcess(*process, expired.signal);
}

void WorkerTimers::Notice(const std::string& line) const {
  if (options_.on_notice) options_.on_notice(line);
}

std::string WorkerTimers::ExpiredScope(pid_t pid) const {
  const auto found = expired_.find(pid);
  return found == expired_.end() ? "" : found->second;
}

}  // namespace muster::agent
