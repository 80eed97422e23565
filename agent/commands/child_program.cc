#include "agent/commands/child_program.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/guardian/descendants.h"
#include "base/monotonic_clock.h"
#include "base/subprocess.h"
#include "base/time.h"
#include "base/write_all.h"
#include "rendezvous/protocol/signal_names.h"

namespace muster::agent {
namespace {

// The longest wait for the exit of a process that was killed or has closed its
// files.
constexpr Duration kReapTimeout = std::chrono::seconds(2);

// Waits at most `limit` until the process exits, reaps it and returns its wait
// status. nullopt: the process has not exited in time and was killed, or
// another part of the agent has reaped it.
std::optional<int> Reap(pid_t pid, Duration limit) {
  if (AwaitSubprocess(pid, MonotonicNow() + limit)) {
    return ReapSubprocess(pid);
  }
  // The signal cannot hit another process: this pid is not free before the
  // process is reaped.
  kill(pid, SIGKILL);
  return std::nullopt;
}

std::string InWords(std::optional<int> status) {
  if (!status.has_value()) return "ended";
  if (WIFSIGNALED(*status)) {
    return absl::StrCat("was killed by ",
                        rendezvous::SignalName(WTERMSIG(*status)));
  }
  return absl::StrCat("ended with exit code ", WEXITSTATUS(*status));
}

absl::Status NoPipe() {
  return absl::InternalError(absl::StrCat("pipe: ", std::strerror(errno)));
}

}  // namespace

absl::StatusOr<std::unique_ptr<ChildProgram>> ChildProgram::Start(
    const std::string& program, const std::string& argument,
    const std::vector<std::string>& environment) {
  int input[2];
  if (pipe2(input, O_CLOEXEC) != 0) return NoPipe();
  OwnedFd input_read(input[0]);
  OwnedFd input_write(input[1]);
  int output[2];
  if (pipe2(output, O_CLOEXEC) != 0) return NoPipe();
  OwnedFd output_read(output[0]);
  OwnedFd output_write(output[1]);
  fcntl(output_read.get(), F_SETFL, O_NONBLOCK);

  SubprocessPlan plan;
  plan.argv = {program, argument};
  plan.environment = environment;
  plan.descriptors = {input_read.get(), output_write.get()};
  plan.group = SubprocessPlan::Group::kOwnSession;
  const absl::StatusOr<pid_t> pid = StartSubprocess(plan);
  if (!pid.ok()) return absl::InternalError(pid.status().message());
  SparedChildren::OfThisProcess().Add(*pid);
  return std::unique_ptr<ChildProgram>(
      new ChildProgram(*pid, std::move(input_write), std::move(output_read)));
}

ChildProgram::ChildProgram(pid_t pid, OwnedFd input, OwnedFd output)
    : pid_(pid), input_(std::move(input)), output_(std::move(output)) {}

ChildProgram::~ChildProgram() { Stop(kReapTimeout); }

void ChildProgram::Stop(Duration limit) {
  // Once the process's end is known (end_), the process has been reaped, and
  // another process may have its pid: send no signal.
  if (!end_.empty()) return;
  input_.Close();
  kill(pid_, SIGKILL);
  end_ = InWords(Reap(pid_, limit));
  SparedChildren::OfThisProcess().Remove(pid_);
}

std::optional<std::string> ChildProgram::End() {
  if (!end_.empty()) return end_;
  char byte;
  ssize_t n;
  // Reads and discards the remaining output up to end of file, which shows that
  // the process has exited or closed its output.
  do {
    n = read(output_.get(), &byte, 1);
  } while (n > 0 || (n < 0 && errno == EINTR));
  if (n < 0) return std::nullopt;
  // At end of file the process has exited or will exit soon. Wait until it can
  // be reaped.
  end_ = InWords(Reap(pid_, kReapTimeout));
  SparedChildren::OfThisProcess().Remove(pid_);
  return end_;
}

const ChildProgram::Line& ChildProgram::Read() {
  char buffer[512];
  while (!line_.whole) {
    if (const size_t end = rest_.find('\n'); end != std::string::npos) {
      line_ = {.text = rest_.substr(0, end), .whole = true};
      rest_.erase(0, end + 1);
      break;
    }
    const ssize_t n = rest_.size() > kMaxLine
                          ? 0
                          : read(output_.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (n <= 0) {
      line_ = {.text = std::exchange(rest_, ""), .whole = true};
      break;
    }
    rest_.append(buffer, static_cast<size_t>(n));
  }
  return line_;
}

void ChildProgram::Advance() { line_ = {}; }

absl::Status ChildProgram::Write(const std::string& line) {
  if (WriteAll(input_.get(), line + "\n")) return absl::OkStatus();
  return absl::UnavailableError(std::strerror(errno));
}

OwnedFd BecomeChildProgram(const char* name) {
  // The kernel kills this process when the thread that started it ends. This is
  // only a safeguard: the program should also exit by itself at the end of its
  // stdin.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_NAME, name);
  signal(SIGPIPE, SIG_IGN);
#ifdef SYS_close_range
  syscall(SYS_close_range, 3, ~0u, 0);
#endif
  OwnedFd output(dup(STDOUT_FILENO));
  dup2(STDERR_FILENO, STDOUT_FILENO);
  return output;
}

bool WriteLine(const OwnedFd& output, std::string line) {
  for (char& c : line) {
    if (c == '\n') c = ' ';
  }
  line += '\n';
  return WriteAll(output.get(), line);
}

}  // namespace muster::agent
