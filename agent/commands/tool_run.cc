#include "agent/commands/tool_run.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "agent/logs/terminal_text.h"
#include "base/monotonic_clock.h"
#include "base/owned_fd.h"
#include "base/poll.h"
#include "base/subprocess.h"
#include "rendezvous/protocol/failure.h"
#include "rendezvous/protocol/signal_names.h"

namespace muster::agent {
namespace {

using End = ToolOutcome::End;

SubprocessPlan PlanOf(const ToolRequest& request, int output) {
  SubprocessPlan plan;
  plan.argv = request.argv;
  plan.environment = EnvironmentWith(request.environment);
  plan.descriptors = {
      request.stdin_fd >= 0 ? request.stdin_fd : SubprocessPlan::kNull, output,
      output};
  plan.group = SubprocessPlan::Group::kOwnGroup;
  for (const int signal : request.blocked_signals) {
    sigaddset(&plan.blocked_signals, signal);
  }
  return plan;
}

// Reads the tool's output. Returns true if the tool closed its output by
// itself. Returns false at the deadline, on cancellation, or after too much
// output.
bool ReadAll(const ToolRequest& request, int from, std::string& output) {
  for (;;) {
    pollfd fds[] = {{from, POLLIN, 0}, {request.cancel_fd, POLLIN, 0}};
    if (PollUntil(fds, request.deadline) == 0 || fds[1].revents != 0) {
      return false;
    }
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
  const absl::StatusOr<pid_t> pid =
      StartSubprocess(PlanOf(request, input.get()));
  input.Close();
  if (!pid.ok()) return outcome;
  // The tool may close its output long before it exits. So wait for its exit
  // after the end of the output.
  const bool ended = ReadAll(request, output.get(), outcome.output) &&
                     AwaitSubprocess(*pid, request.deadline, request.cancel_fd);
  // Kills the tool's process group: the tool if it still runs, and the
  // processes that it started.
  kill(-*pid, SIGKILL);
  // The status is unknown (nullopt) if another part of the agent has already
  // reaped the tool. After the guardian's death, the class Guardian reaps the
  // agent's children, and does not know which of them are tools.
  const std::optional<int> status = ReapSubprocess(*pid);
  const bool succeeded = status.has_value() && ExitCodeOf(*status) == 0;
  outcome.wait_status = status.value_or(0);
  outcome.end = !ended      ? End::kCutOff
                : succeeded ? End::kSucceeded
                            : End::kFailed;
  return outcome;
}

namespace {

// How many bytes from the end of a command's output are kept. The output's last
// line becomes part of an error message.
constexpr size_t kKeptBytes = 4096;

// A shell script that runs the command $0 and kills it when this process ends.
// The shell's stdin is a pipe whose write end only this process holds. A
// background job of the shell reads from the pipe. When this process ends or
// closes the write end, the read returns, and the job kills the whole process
// group. The command replaces the shell, with /dev/null as its stdin.
constexpr char kWatchedShell[] =
    "exec 3<&0 </dev/null; "
    "{ read -r _ <&3; kill -KILL 0; } >/dev/null 2>&1 & "
    "exec 3<&-; exec /bin/sh -c \"$0\"";

// A prefix of a shell command that makes the command ignore `signals`. The
// signals stay blocked until the shell has executed this prefix.
std::string Ignoring(const std::vector<int>& signals) {
  if (signals.empty()) return "";
  return absl::StrCat("trap '' ", absl::StrJoin(signals, " "), "; ");
}

std::string LastLine(const std::string& output) {
  const size_t end = output.find_last_not_of(" \t\r\n");
  if (end == std::string::npos) return "";
  const size_t before = output.find_last_of("\n", end);
  const size_t start = before == std::string::npos ? 0 : before + 1;
  return BoundedLine(output.substr(start, end + 1 - start),
                     rendezvous::kMaxLineBytes - 100);
}

std::string EndInWords(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    return absl::StrCat("killed by ",
                        rendezvous::SignalName(WTERMSIG(wait_status)));
  }
  if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) != 0) {
    return absl::StrCat("exit code ", WEXITSTATUS(wait_status));
  }
  return "it failed";
}

}  // namespace

absl::Status RunShellCommand(const ShellCommand& command) {
  int life[2];
  if (pipe2(life, O_CLOEXEC) != 0) {
    return absl::UnavailableError("no shell could be started: pipe");
  }
  const OwnedFd watched(life[0]);
  const OwnedFd ours(life[1]);
  const ToolOutcome outcome =
      RunTool({.argv = {"/bin/sh", "-c",
                        Ignoring(command.ignored_signals) + kWatchedShell,
                        command.command},
               .environment = command.environment,
               .deadline = MonotonicNow() + command.timeout,
               .cancel_fd = command.cancel_fd,
               .max_bytes = kKeptBytes,
               .excess = ToolRequest::Excess::kForget,
               .stdin_fd = watched.get(),
               .blocked_signals = command.ignored_signals});
  const std::string said = LastLine(outcome.output);
  switch (outcome.end) {
    case ToolOutcome::End::kSucceeded:
      return absl::OkStatus();
    case ToolOutcome::End::kFailed: {
      const std::string end = EndInWords(outcome.wait_status);
      return absl::FailedPreconditionError(
          said.empty() ? end : absl::StrCat(said, " (", end, ")"));
    }
    case ToolOutcome::End::kNotStarted:
      return absl::UnavailableError("/bin/sh could not be started");
    case ToolOutcome::End::kCutOff:
      break;
  }
  if (PollUntil(command.cancel_fd, POLLIN, kAtOnce)) {
    return absl::CancelledError("cancelled");
  }
  return absl::DeadlineExceededError(absl::StrCat(
      "it did not end within ", ToSeconds(command.timeout), " s",
      said.empty() ? "" : absl::StrCat("; the last it said was: ", said)));
}

}  // namespace muster::agent
