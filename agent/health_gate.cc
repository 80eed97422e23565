#include "agent/health_gate.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/commands/tool_run.h"
#include "agent/logs/terminal_text.h"
#include "rendezvous/protocol/failure.h"

namespace muster::agent {
namespace {

// The extra time to kill the user's command after its deadline. If the command
// cannot be killed, because it hangs in a driver, the node counts as unhealthy.
constexpr Duration kKillMargin = std::chrono::seconds(2);

// Runs the built-in checks, then the user's command. The built-in checks come
// first because they are quick. Also, the command may need the devices and
// folders that the built-in checks examine.
absl::Status Look(const HealthGate::Options& options, int cancel_fd) {
  if (options.built_in) {
    absl::Status found = options.built_in();
    if (!found.ok()) return found;
  }
  if (options.command.empty()) return absl::OkStatus();
  const absl::Status run = RunShellCommand({.command = options.command,
                                            .environment = options.environment,
                                            .timeout = options.timeout,
                                            .cancel_fd = cancel_fd});
  if (run.ok()) return run;
  return {run.code(),
          absl::StrCat("--health-command: ", std::string(run.message()))};
}

}  // namespace

HealthGate::HealthGate(Options options) : options_(std::move(options)) {}

void HealthGate::Check(std::function<void(std::string unhealthy)> found) {
  const int parts =
      (options_.built_in ? 1 : 0) + (options_.command.empty() ? 0 : 1);
  task_.Start(
      [options = options_](int cancel_fd) { return Look(options, cancel_fd); },
      options_.timeout * parts + kKillMargin,
      [found = std::move(found)](const absl::Status& outcome) {
        if (outcome.ok()) {
          found("");
          return;
        }
        const std::string why = BoundedLine(std::string(outcome.message()),
                                            rendezvous::kMaxLineBytes);
        found(why.empty() ? "it did not say why" : why);
      });
}

void HealthGate::Drop() { task_.Cancel(); }

}  // namespace muster::agent
