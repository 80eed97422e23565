#include "agent/commands/tool_run.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <optional>

#include "base/exec_pointers.h"
#include "base/monotonic_clock.h"
#include "base/owned_fd.h"

extern char** environ;

namespace muster::agent {
namespace {

using End = ToolOutcome::End;

// The agent blocks and ignores signals that a tool may need.
void SetAttributes(const std::vector<int>& blocked_signals,
                   posix_spawnattr_t* attributes) {
  sigset_t blocked, all;
  sigemptyset(&blocked);
  for (const int signal : blocked_signals) sigaddset(&blocked, signal);
  sigfillset(&all);
  posix_spawnattr_setsigmask(attributes, &blocked);
  posix_spawnattr_setsigdefault(attributes, &all);
  posix_spawnattr_setpgroup(attributes, 0);
  posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP |
                                           POSIX_SPAWN_SETSIGMASK |
                                           POSIX_SPAWN_SETSIGDEF);
}

// Of a name that is there twice, some programs take the first and some the
// last.
bool Replaced(const std::string& variable, const std::vector<std::string>& by) {
  const std::string name = variable.substr(0, variable.find('=') + 1);
  return std::any_of(by.begin(), by.end(), [&](const std::string& other) {
    return other.compare(0, name.size(), name) == 0;
  });
}

// posix_spawn shares the memory until exec, so that no lock of another thread
// is copied in whatever state it was.
std::optional<pid_t> Spawn(const ToolRequest& request, int output) {
  const std::vector<char*> arguments = ExecPointers(request.argv);
  std::vector<char*> variables = ExecPointers(request.environment);
  for (char** own = environ; *own != nullptr; ++own) {
    if (Replaced(*own, request.environment)) continue;
    variables.insert(variables.end() - 1, *own);  // before the null
  }
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  SetAttributes(request.blocked_signals, &attributes);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  if (request.stdin_fd >= 0) {
    posix_spawn_file_actions_adddup2(&files, request.stdin_fd, STDIN_FILENO);
  } else {
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null",
                                     O_RDONLY, 0);
  }
  posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, output, STDERR_FILENO);
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, arguments[0], &files, &attributes,
                                 arguments.data(), variables.data());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  return error == 0 ? std::optional(pid) : std::nullopt;
}

int MillisecondsUntil(Instant deadline) {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(deadline - MonotonicNow());
  return static_cast<int>(std::clamp<int64_t>(left.count(), 0, 3'600'000));
}

// True if the tool closed its output by itself.
bool ReadAll(const ToolRequest& request, int from, std::string& output) {
  for (;;) {
    pollfd fds[] = {{from, POLLIN, 0}, {request.cancel_fd, POLLIN, 0}};
    const int ready = poll(fds, 2, MillisecondsUntil(request.deadline));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0 || fds[1].revents != 0) return false;
    char bytes[4096];
    const ssize_t got = read(from, bytes, sizeof(bytes));
    if (got == 0) return true;
    if (got < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    output.append(bytes, static_cast<size_t>(got));
    if (output.size() <= request.max_bytes) continue;
    if (request.excess == ToolRequest::Excess::kCutOff) {
      output.resize(request.max_bytes);
      return false;
    }
    output.erase(0, output.size() - request.max_bytes);
  }
}

}  // namespace

ToolOutcome RunTool(const ToolRequest& request) {
  ToolOutcome outcome;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return outcome;
  const OwnedFd output(ends[0]);
  OwnedFd input(ends[1]);
  const std::optional<pid_t> pid = Spawn(request, input.get());
  input.Close();
  if (!pid.has_value()) return outcome;
  const bool whole = ReadAll(request, output.get(), outcome.output);
  // Not reaped yet, so the number is still its own. One that closed its output
  // has ended, or has nothing more to say.
  if (!whole) kill(-*pid, SIGKILL);
  // For a tool that closes its output and stays.
  siginfo_t info = {};
  while (whole && MonotonicNow() < request.deadline) {
    if (waitid(P_PID, static_cast<id_t>(*pid), &info,
               WEXITED | WNOWAIT | WNOHANG) != 0 ||
        info.si_pid != 0) {
      break;
    }
    pollfd cancel = {request.cancel_fd, POLLIN, 0};
    if (poll(&cancel, 1, /*timeout=*/1) > 0) break;
  }
  kill(-*pid, SIGKILL);
  int status = 0;
  pid_t reaped;
  do {
    reaped = waitpid(*pid, &status, 0);
  } while (reaped < 0 && errno == EINTR);
  // ECHILD: swept away with the workers' orphans, see Guardian.
  const bool succeeded =
      reaped == *pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (reaped == *pid) outcome.wait_status = status;
  outcome.end = !whole      ? End::kCutOff
                : succeeded ? End::kSucceeded
                            : End::kFailed;
  return outcome;
}

}  // namespace muster::agent
