#include "agent/stacks/kernel_stacks.h"

#include <dirent.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/bounded_file.h"

namespace muster::agent {
namespace {

constexpr size_t kMaxFileBytes = 2048;

}  // namespace

// The state letter of a process. The format of `stat` is "4242 (a name) S 1 …";
// the name may contain any characters.
char StateLetter(std::string_view stat) {
  const size_t end = stat.rfind(')');
  return end == std::string_view::npos || end + 2 >= stat.size()
             ? '?'
             : stat[end + 2];
}

WorkerState ReadWorkerState(int64_t pid) {
  const auto stat =
      ReadBeginning(absl::StrCat("/proc/", pid, "/stat"), kMaxFileBytes);
  if (!stat.has_value()) return WorkerState::kEnded;
  switch (StateLetter(*stat)) {
    // A signal has stopped the process. The state 't' (traced) does not count
    // as stopped: it comes from a debugger, perhaps the gdb that StackTaker
    // runs.
    case 'T':
      return WorkerState::kStopped;
    case 'D':
      return WorkerState::kUninterruptible;
    case 'Z':
    case 'X':
      return WorkerState::kEnded;
    default:
      return WorkerState::kOther;
  }
}

namespace {

constexpr size_t kMaxThreads = 64;

std::string ReadSmall(const std::string& path) {
  std::string text = ReadBeginning(path, kMaxFileBytes).value_or("");
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

// The name of the system call `number`, if workers often wait in this call.
// Otherwise the number as text.
std::string CallName(int64_t number) {
  static constexpr struct {
    int64_t number;
    const char* name;
  } kCalls[] = {
      {SYS_read, "read"},
      {SYS_write, "write"},
      {SYS_ioctl, "ioctl"},
      {SYS_futex, "futex"},
      {SYS_nanosleep, "nanosleep"},
      {SYS_clock_nanosleep, "clock_nanosleep"},
      {SYS_recvfrom, "recvfrom"},
      {SYS_recvmsg, "recvmsg"},
      {SYS_sendto, "sendto"},
      {SYS_sendmsg, "sendmsg"},
      {SYS_connect, "connect"},
      {SYS_ppoll, "ppoll"},
      {SYS_pselect6, "pselect6"},
      {SYS_epoll_pwait, "epoll_pwait"},
      {SYS_wait4, "wait4"},
      {SYS_waitid, "waitid"},
      {SYS_fsync, "fsync"},
#ifdef SYS_poll
      {SYS_poll, "poll"},
#endif
#ifdef SYS_select
      {SYS_select, "select"},
#endif
#ifdef SYS_epoll_wait
      {SYS_epoll_wait, "epoll_wait"},
#endif
#ifdef SYS_pause
      {SYS_pause, "pause"},
#endif
  };
  for (const auto& call : kCalls) {
    if (call.number == number) return call.name;
  }
  return absl::StrCat("system call ", number);
}

const char* StateName(char state) {
  switch (state) {
    case 'R':
      return "running";
    case 'S':
      return "sleeping";
    case 'D':
      return "in an uninterruptible wait";
    case 'T':
    case 't':
      return "stopped";
    case 'Z':
    case 'X':
      return "ended";
    default:
      return "in an unknown state";
  }
}

// Returns ", in NAME" for the text of /proc/<pid>/syscall, such as "230 0x0 0x1
// …". Empty if the text names no system call ("running", "-1 …").
std::string CallOf(const std::string& syscall) {
  if (syscall.empty() || syscall[0] < '0' || syscall[0] > '9') return "";
  return absl::StrCat(", in ",
                      CallName(std::strtol(syscall.c_str(), nullptr, 10)));
}

std::string OneThread(const std::string& folder, int64_t tid) {
  const std::string stat = ReadSmall(folder + "/stat");
  if (stat.empty()) return "";
  const std::string waits = ReadSmall(folder + "/wchan");
  std::string text = absl::StrCat(
      "thread ", tid, " (", ReadSmall(folder + "/comm"), "), ",
      StateName(StateLetter(stat)), CallOf(ReadSmall(folder + "/syscall")),
      waits.empty() || waits == "0" ? "" : ", waits in " + waits, "\n");
  const std::string stack = ReadSmall(folder + "/stack");
  for (std::string_view rest = stack; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    absl::StrAppend(&text, "    ", std::string(line), "\n");
  }
  return text;
}

}  // namespace

std::string KernelStacks(int64_t pid) {
  const std::string tasks = absl::StrCat("/proc/", pid, "/task");
  DIR* const folder = opendir(tasks.c_str());
  if (folder == nullptr) return "";
  std::vector<int64_t> threads;
  while (const dirent* entry = readdir(folder)) {
    const int64_t tid = std::strtol(entry->d_name, nullptr, 10);
    if (tid > 0 && threads.size() < kMaxThreads) threads.push_back(tid);
  }
  closedir(folder);
  std::sort(threads.begin(), threads.end());
  std::string text;
  for (const int64_t tid : threads) {
    text += OneThread(absl::StrCat(tasks, "/", tid), tid);
  }
  return text;
}

}  // namespace muster::agent
