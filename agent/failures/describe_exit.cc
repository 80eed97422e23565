#include "agent/failures/describe_exit.h"

#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

#include "agent/logs/terminal_text.h"
#include "rendezvous/protocol/signal_names.h"

namespace muster::agent {
namespace {

// The usual cause of a worker's death by `signal`, for the case that Muster did
// not send the signal; null: no usual cause.
const char* HintFor(int signal) {
  switch (signal) {
    case SIGKILL:
      return "perhaps the out-of-memory killer: see dmesg";
    case SIGBUS:
      return "perhaps /dev/shm is full";
    case SIGXCPU:
      return "its limit of CPU time is spent: see ulimit -t";
    case SIGXFSZ:
      return "a file grew beyond its limit: see ulimit -f";
    case SIGSYS:
      return "a forbidden system call: see the container's seccomp profile";
    default:
      return nullptr;
  }
}

std::string DescribeSignal(int wait_status, const std::string& expired_timer) {
  const int signal = WTERMSIG(wait_status);
  std::string text = "killed by " + rendezvous::SignalName(signal) + " (" +
                     std::to_string(signal) + ")";
  if (WCOREDUMP(wait_status)) text += ", core dumped";
  if (!expired_timer.empty()) {
    return text + "; its timer '" + expired_timer + "' expired";
  }
  if (const char* hint = HintFor(signal)) text += std::string("; ") + hint;
  return text;
}

// Whether the line begins with a name, with dots or without, that ends like the
// name of an exception ("Error", "Interrupt"). After the name, the line ends or
// has a colon: "ValueError: x", "torch.cuda.OutOfMemoryError: y",
// "KeyboardInterrupt".
bool LooksLikeAnException(std::string_view line) {
  const std::string_view name = line.substr(0, line.find(':'));
  if (name.empty() || name.size() > 100) return false;
  const bool dotted = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '.' || c == '_';
  });
  if (!dotted) return false;
  for (const std::string_view end :
       {"Error", "Exception", "Interrupt", "Exit", "Timeout"}) {
    if (name.size() >= end.size() &&
        name.substr(name.size() - end.size()) == end) {
      return true;
    }
  }
  return false;
}

std::string DescribeExitCode(int exit_code,
                             const std::vector<std::string>& stderr_tail) {
  std::string text = "exit code " + std::to_string(exit_code);
  const auto last =
      std::find_if(stderr_tail.rbegin(), stderr_tail.rend(),
                   [](const std::string& line) { return !line.empty(); });
  if (last != stderr_tail.rend() && LooksLikeAnException(*last)) {
    text += ": " + *last;
  } else if (exit_code > 128 && exit_code <= 128 + SIGRTMAX) {
    // A shell exits with 128 + n if the program that it ran was killed by
    // signal n.
    text += " (128 + " + rendezvous::SignalName(exit_code - 128) + ")";
  }
  return text;
}

// Advice for a known error message of another program; empty if the message is
// unknown.
const char* RemedyFor(std::string_view message) {
  // This error comes from jax.distributed.initialize() without arguments, in an
  // environment unknown to JAX.
  if (message.find("coordinator_address should be defined") !=
      std::string_view::npos) {
    return "; give launch --framework-env jax, which tells JAX where its "
           "coordinator "
           "is";
  }
  return "";
}

std::string DescribeStep(const WorkerNotStarted& event) {
  const std::string error = std::strerror(event.error);
  if (event.step == "interpreter") {
    return "exec: the script's interpreter " + event.path + ": " + error;
  }
  if (event.step == "loader") {
    return "exec " + event.path +
           ": the dynamic loader that it names is not there (built for "
           "another system?)";
  }
  if (event.step == "bind") {
    return "--numa-binding: cannot be bound to CPUs " + event.path + ": " +
           error + " (are they offline, or taken from this cgroup?)";
  }
  if (event.step == "exec" && event.error == ENOEXEC) {
    return "exec " + event.path +
           ": neither a program for this machine nor a script with a #! line";
  }
  if (event.step == "fork" && event.error == EAGAIN) {
    return "fork: " + error +
           ": a limit of processes is reached (ulimit -u, or the container's "
           "pids limit)";
  }
  if (event.step == "exec" && event.error == E2BIG) {
    return "exec " + event.path +
           ": arguments and environment are too long for this kernel";
  }
  return event.step + (event.path.empty() ? "" : " ") + event.path + ": " +
         error;
}

}  // namespace

std::optional<rendezvous::Failure> DescribeEnd(rendezvous::Failure place,
                                               const WorkerEnded& event,
                                               const WorkerRemains& remains) {
  rendezvous::Failure failure = std::move(place);
  failure.pid = event.pid;
  failure.stderr_tail =
      BoundedLastLines(remains.stderr_tail, rendezvous::kMaxStderrLines,
                       rendezvous::kMaxLineBytes);
  std::string message;
  if (WIFSIGNALED(event.wait_status)) {
    failure.kind = rendezvous::FailureKind::kSignal;
    failure.signal = WTERMSIG(event.wait_status);
    message = DescribeSignal(event.wait_status, remains.expired_timer);
  } else {
    failure.kind = rendezvous::FailureKind::kExitCode;
    failure.exit_code = WEXITSTATUS(event.wait_status);
    if (failure.exit_code == 0) return std::nullopt;
    message = DescribeExitCode(failure.exit_code, failure.stderr_tail);
  }
  if (remains.error_file.ok()) {
    const ErrorFile& file = *remains.error_file;
    failure.error_file = remains.error_file_path;
    failure.traceback =
        BoundedTail(file.traceback, rendezvous::kMaxTracebackBytes);
    if (file.unix_time > 0) failure.unix_time = file.unix_time;
    const std::string said =
        BoundedLine(file.message, rendezvous::kMaxLineBytes);
    if (!said.empty()) message = said;
  }
  if (const std::string remedy = RemedyFor(message); !remedy.empty()) {
    if (message.back() == '.') message.pop_back();
    message += remedy;
  }
  failure.message = BoundedLine(message, rendezvous::kMaxLineBytes);
  return failure;
}

rendezvous::Failure DescribeNotStarted(rendezvous::Failure place,
                                       const WorkerNotStarted& event) {
  rendezvous::Failure failure = std::move(place);
  failure.kind = rendezvous::FailureKind::kStartFailed;
  failure.exit_code = event.error == ENOENT ? 127 : 126;
  failure.message = BoundedLine(DescribeStep(event), rendezvous::kMaxLineBytes);
  return failure;
}

}  // namespace muster::agent
