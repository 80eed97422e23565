#include "agent/guardian/descendants.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <fstream>
#include <memory>
#include <set>
#include <string>

#include "base/monotonic_clock.h"
#include "base/owned_fd.h"
#include "base/subprocess.h"

namespace muster::agent {
namespace {

template <typename Number>
bool ReadNumber(std::string_view text, Number* number) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, *number);
  return error == std::errc() && stop == end;
}

std::vector<ProcessEntry> EveryProcess() {
  std::vector<ProcessEntry> processes;
  const std::unique_ptr<DIR, int (*)(DIR*)> proc(opendir("/proc"), closedir);
  if (proc == nullptr) return processes;
  while (const dirent* entry = readdir(proc.get())) {
    pid_t pid = 0;
    if (!ReadNumber(std::string_view(entry->d_name), &pid)) continue;
    if (const auto process = ReadProcess(pid)) processes.push_back(*process);
  }
  return processes;
}

}  // namespace

std::optional<ProcessEntry> ReadProcess(pid_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/stat";
  const OwnedFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char line[1024];
  const ssize_t got = file.open() ? read(file.get(), line, sizeof line) : -1;
  if (got <= 0) return std::nullopt;
  return ParseProcessStat(std::string_view(line, static_cast<size_t>(got)));
}

std::optional<ProcessEntry> ParseProcessStat(std::string_view line) {
  const size_t open = line.find(" (");
  const size_t close = line.rfind(") ");
  if (open == std::string_view::npos || close == std::string_view::npos ||
      close < open) {
    return std::nullopt;
  }
  ProcessEntry process;
  // Refuses a pid of 0 or less, because kill would interpret it as a process
  // group.
  if (!ReadNumber(line.substr(0, open), &process.pid) || process.pid <= 0) {
    return std::nullopt;
  }
  // Fields are numbered as in proc(5), from 1; the state is field 3.
  int field = 3;
  std::string_view rest = line.substr(close + 2);
  while (field <= 22) {
    const size_t end = std::min(rest.find_first_of(" \n"), rest.size());
    const std::string_view word = rest.substr(0, end);
    if (word.empty()) return std::nullopt;
    const bool good = field == 3    ? (process.state = word[0], true)
                      : field == 4  ? ReadNumber(word, &process.parent)
                      : field == 5  ? ReadNumber(word, &process.group)
                      : field == 22 ? ReadNumber(word, &process.start_time)
                                    : true;
    if (!good) return std::nullopt;
    rest.remove_prefix(std::min(end + 1, rest.size()));
    ++field;
  }
  return process;
}

std::vector<ProcessEntry> DescendantsAmong(
    const std::vector<ProcessEntry>& processes, pid_t root) {
  std::vector<ProcessEntry> by_parent = processes;
  std::sort(by_parent.begin(), by_parent.end(),
            [](const ProcessEntry& a, const ProcessEntry& b) {
              return a.parent != b.parent ? a.parent < b.parent : a.pid < b.pid;
            });
  std::vector<ProcessEntry> found;
  // The pids visited so far; each pid is visited once. If a pid was reused
  // during the walk through /proc, the links from child to parent may form a
  // cycle.
  std::set<pid_t> seen = {root};
  pid_t parent = root;
  for (size_t next = 0;; ++next) {
    auto child = std::lower_bound(
        by_parent.begin(), by_parent.end(), parent,
        [](const ProcessEntry& p, pid_t pid) { return p.parent < pid; });
    for (; child != by_parent.end() && child->parent == parent; ++child) {
      if (seen.insert(child->pid).second) found.push_back(*child);
    }
    if (next == found.size()) return found;
    parent = found[next].pid;
  }
}

std::vector<ProcessEntry> Descendants(pid_t root) {
  return DescendantsAmong(EveryProcess(), root);
}

std::vector<ProcessEntry> KillDescendants(
    const std::vector<ProcessEntry>& spared) {
  // The walk through /proc takes milliseconds on a busy machine. Skip it if the
  // calling process has no child. The caller is a sub-reaper, so orphans among
  // its descendants become its children. Without a child it therefore has no
  // descendants at all.
  siginfo_t child = {};
  if (waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) != 0 &&
      errno == ECHILD) {
    return {};
  }
  std::vector<ProcessEntry> processes = EveryProcess();
  std::erase_if(processes, [&spared](const ProcessEntry& process) {
    return std::any_of(
        spared.begin(), spared.end(), [&process](const ProcessEntry& one) {
          return one.pid == process.pid && one.start_time == process.start_time;
        });
  });
  std::vector<ProcessEntry> found = DescendantsAmong(processes, getpid());
  std::set<pid_t> groups;
  for (const ProcessEntry& process : found) {
    if (process.state != 'Z') SignalProcess(process, SIGKILL);
    groups.insert(process.group);
  }
  // The walk through /proc may miss the newest child of a process that forks
  // and exits again and again. Such a child is in the same process group as its
  // parent. So also kill the groups of the found processes. The caller's own
  // group is left out: it contains no worker, because every worker leads a
  // group of its own.
  groups.erase(getpgrp());
  for (const pid_t group : groups) {
    if (group > 1) kill(-group, SIGKILL);
  }
  return found;
}

void SignalProcess(const ProcessEntry& process, int signal) {
  if (process.pid <= 1) return;
#ifdef SYS_pidfd_open
  const OwnedFd handle = OpenPidFd(process.pid);
  if (!handle.open() && errno == ESRCH) return;
  // The pidfd refers to the process that now has this pid. If this process's
  // start time differs from the one in `process`, the pid was reused, and no
  // signal is sent.
  const auto now = ReadProcess(process.pid);
  if (!now || now->start_time != process.start_time) return;
  if (handle.open()) {
    syscall(SYS_pidfd_send_signal, handle.get(), signal, nullptr, 0);
    return;
  }
#endif
  kill(process.pid, signal);
}

std::vector<ProcessEntry> ChildrenOfThisProcess() {
  // This file lists a thread's children much faster than a walk through /proc,
  // which takes milliseconds. Some kernels are built without the file.
  std::ifstream listing("/proc/thread-self/children");
  if (listing) {
    pid_t pid = 0;
    if (!(listing >> pid)) return {};
  }
  const pid_t self = getpid();
  std::vector<ProcessEntry> children = Descendants(self);
  std::erase_if(children, [self](const ProcessEntry& process) {
    return process.parent != self;
  });
  return children;
}

bool OrphanSweep::Pass(const std::vector<ProcessEntry>& spared) {
  left_.clear();
  const std::vector<ProcessEntry> found = KillDescendants(spared);
  const pid_t self = getpid();
  for (const ProcessEntry& process : found) {
    if (process.parent == self && waitpid(process.pid, nullptr, WNOHANG) > 0) {
      continue;
    }
    left_ += (left_.empty() ? "" : ", ") + std::to_string(process.pid);
  }
  // The clean-up is complete only if no process was found. If this call has
  // reaped a process, the process may have left children, which only the next
  // call finds.
  if (found.empty()) return true;
  if (MonotonicNow() >= end_) return true;
  wait_ = std::min(2 * wait_, std::chrono::milliseconds(50));
  return false;
}

SparedChildren& SparedChildren::OfThisProcess() {
  // The list of the processes that must not be killed. The list is never
  // destroyed, because the destructor of a Guardian uses it, and a Guardian in
  // a static object may be destroyed after other static objects.
  static auto* const spared = new SparedChildren;
  return *spared;
}

void SparedChildren::Add(pid_t pid) {
  const auto process = ReadProcess(pid);
  if (!process) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  children_.push_back(*process);
}

void SparedChildren::Remove(pid_t pid) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::erase_if(children_, [pid](const ProcessEntry& process) {
    return process.pid == pid;
  });
}

std::vector<ProcessEntry> SparedChildren::List() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return children_;
}

}  // namespace muster::agent
