#include "agent/guardian/start_command.h"

#include "absl/status/status.h"
#include "agent/guardian/wire.h"

namespace muster::agent {
namespace {

bool HoldsNul(const std::string& text) {
  return text.find('\0') != std::string::npos;
}

absl::Status Refuse(const WorkerSpec& spec, const std::string& why) {
  return absl::InvalidArgumentError("worker " +
                                    std::to_string(spec.local_rank) +
                                    " cannot be started: " + why);
}

absl::Status CheckName(const WorkerSpec& spec, const std::string& name) {
  if (!name.empty() && name.find('=') == std::string::npos && !HoldsNul(name)) {
    return absl::OkStatus();
  }
  return Refuse(spec, "\"" + name + "\" is no name of an environment variable");
}

absl::Status Check(const WorkerSpec& spec) {
  if (spec.argv.empty()) return Refuse(spec, "no program is given");
  for (size_t i = 0; i < spec.argv.size(); ++i) {
    if (HoldsNul(spec.argv[i])) {
      return Refuse(spec,
                    "argument " + std::to_string(i) + " holds a NUL character");
    }
  }
  for (const auto& [name, value] : spec.environment) {
    if (absl::Status good = CheckName(spec, name); !good.ok()) return good;
    if (HoldsNul(value)) {
      return Refuse(spec, "the variable " + name + " holds a NUL character");
    }
  }
  for (const std::string& name : spec.unset) {
    if (absl::Status good = CheckName(spec, name); !good.ok()) return good;
  }
  if (HoldsNul(spec.working_directory)) {
    return Refuse(spec, "the working directory holds a NUL character");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> EncodeStart(const WorkerSpec& spec) {
  if (absl::Status good = Check(spec); !good.ok()) return good;
  StartCommand start;
  start.local_rank = spec.local_rank;
  start.argv = spec.argv;
  start.environment = spec.environment;
  start.unset = spec.unset;
  start.working_directory = spec.working_directory;
  start.cpus = spec.cpus;
  start.memory_node = spec.memory_node;
  start.ignored_signals = spec.ignored_signals;
  start.has_stdin = spec.stdin_fd >= 0;
  start.has_stdout = spec.stdout_fd >= 0;
  start.has_stderr = spec.stderr_fd >= 0;
  start.controls_terminal = spec.controls_terminal;
  std::string payload = Encode(Command(std::move(start)));
  if (payload.size() > kMaxMessageBytes) {
    return Refuse(spec, "its arguments and environment take " +
                            std::to_string(payload.size()) +
                            " bytes, more than " +
                            std::to_string(kMaxMessageBytes));
  }
  return payload;
}

}  // namespace muster::agent
