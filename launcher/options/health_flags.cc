#include "launcher/options/health_flags.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "launcher/options/option_values.h"

namespace muster::launcher {
namespace {

const std::vector<std::string>& BuiltInChecks() {
  static const auto& checks =
      *new std::vector<std::string>{"gpu", "disk", "memory", "shm"};
  return checks;
}

absl::StatusOr<std::vector<std::string>> ReadChecks(const std::string& text) {
  if (text == "all") return BuiltInChecks();
  if (text == "none") return std::vector<std::string>{};
  std::vector<std::string> checks = ReadList(text);
  for (const std::string& check : checks) {
    const auto& known = BuiltInChecks();
    if (std::find(known.begin(), known.end(), check) == known.end()) {
      return absl::InvalidArgumentError(absl::StrCat(
          check, " is no check; write all, none, or of gpu,disk,memory,shm"));
    }
  }
  return checks;
}

absl::StatusOr<Duration> ReadPositiveSeconds(const std::string& text) {
  absl::StatusOr<Duration> time = ReadSeconds(text);
  if (time.ok() && *time == Duration::zero()) {
    return absl::InvalidArgumentError("is no time; write for example 30");
  }
  return time;
}

}  // namespace

agent::HealthOptions ReadHealthOptions(FlagValues& values) {
  agent::HealthOptions options;
  options.command = values.Text("health-command");
  values.Into("health-checks", ReadChecks, options.checks);
  values.Into("health-timeout", ReadPositiveSeconds, options.timeout);
  values.Into("health-interval", ReadPositiveSeconds, options.interval);
  if (!values.Text("probe-listen").empty()) {
    values.Into("probe-listen", rendezvous::ParseEndpoint,
                options.probe_listen);
  }
  return options;
}

}  // namespace muster::launcher
