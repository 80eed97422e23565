#include "agent/commands/tool_run.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <optional>

#include "absl/status/statusor.h"
#include "base/owned_fd.h"
#include "base/poll.h"
#include "base/subprocess.h"

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

// Returns true if the tool closed its output by itself.
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
  const bool whole = ReadAll(request, output.get(), outcome.output);
  // The process is not reaped yet, so the pid is still its own. A tool that
  // closed its output has ended, or will print nothing more.
  if (!whole) kill(-*pid, SIGKILL);
  // Waits for a tool that closed its output but still runs.
  if (whole) AwaitSubprocess(*pid, request.deadline, request.cancel_fd);
  kill(-*pid, SIGKILL);
  // No status: reaped together with the workers' orphans, see Guardian.
  const std::optional<int> status = ReapSubprocess(*pid);
  const bool succeeded = status.has_value() && ExitCodeOf(*status) == 0;
  outcome.wait_status = status.value_or(0);
  outcome.end = !whole      ? End::kCutOff
                : succeeded ? End::kSucceeded
                            : End::kFailed;
  return outcome;
}

}  // namespace muster::agent
