#include "launcher/ssh/remote_environment.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace muster::launcher {
namespace {

// Variables that are never copied to another host. MUSTER_TOKEN is secret and
// is sent separately. MUSTER_SSH names the program that this machine uses
// instead of ssh. The other variables are valid in one process only: an agent
// sets them for its workers, or a `launch` sets them for an agent.
const std::vector<std::string>& NeverSentVariables() {
  static const auto& names = *new std::vector<std::string>{
      "MUSTER_TOKEN",           "MUSTER_SSH",
      "MUSTER_NCCL_ID",         "MUSTER_PROGRESS_SOCKET",
      "MUSTER_PREEMPTION_FILE", "MUSTER_ENDPOINT_FD",
      "MUSTER_VERDICT_FD",      "MUSTER_COORDINATOR",
      "MUSTER_NODE_ID",         "MUSTER_JOB_MESSAGES",
      "MUSTER_TOKEN_MADE",      "MUSTER_CALLED_AS",
      "MUSTER_DOCTOR_TOKEN",    "MUSTER_CHANNEL_KEY_PIPE",
      "MUSTER_NODE_ADDRESS",    "MUSTER_CPU_SET"};
  return names;
}

std::string_view Trimmed(std::string_view text) {
  const auto is_blank = [](char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
  };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

absl::Status Export(const std::string& asked, const Environment& here,
                    Environment& chosen) {
  const size_t equals = asked.find('=');
  const std::string name = asked.substr(0, equals);
  const bool is_prefix = !name.empty() && name.back() == '*';
  const bool sound =
      IsVariableName(is_prefix ? name.substr(0, name.size() - 1) : name) &&
      !(is_prefix && equals != std::string::npos);
  if (!sound) {
    return absl::InvalidArgumentError(
        absl::StrCat("--export: '", name,
                     "' is no variable; write NAME, PREFIX* or NAME=VALUE"));
  }
  if (MatchesAny(name, NeverSentVariables())) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--export: ", name,
        " belongs to one process; the job's token travels by itself"));
  }
  if (equals != std::string::npos) {
    chosen[name] = asked.substr(equals + 1);
    return absl::OkStatus();
  }
  bool found = false;
  for (const auto& [known, value] : here) {
    if (!MatchesAny(known, {name}) || MatchesAny(known, NeverSentVariables())) {
      continue;
    }
    found = true;
    chosen[known] = value;
  }
  if (!found && !is_prefix) {
    return absl::InvalidArgumentError(
        absl::StrCat("--export: ", name, " is not set here; set it or write ",
                     name, "=VALUE"));
  }
  return absl::OkStatus();
}

}  // namespace

const std::vector<std::string>& SentVariables() {
  static const auto& patterns = *new std::vector<std::string>{"LD_LIBRARY_PATH",
                                                              "PYTHON*",
                                                              "NCCL_*",
                                                              "TORCH_*",
                                                              "PYTORCH_*",
                                                              "OMP_*",
                                                              "MKL_*",
                                                              "KMP_*",
                                                              "GOMP_*",
                                                              "OPENBLAS_*",
                                                              "CUDA_*",
                                                              "GLOO_*",
                                                              "TP_*",
                                                              "UCX_*",
                                                              "FI_*",
                                                              "MLFLOW*",
                                                              "HF_*",
                                                              "WANDB_*",
                                                              "XLA_*",
                                                              "JAX_*",
                                                              "TF_*",
                                                              "DEEPSPEED_*",
                                                              "DS_*",
                                                              "ACCELERATE_*",
                                                              "MUSTER_*"};
  return patterns;
}

bool MatchesAny(std::string_view name,
                const std::vector<std::string>& patterns) {
  return std::any_of(
      patterns.begin(), patterns.end(), [&](const std::string& pattern) {
        if (pattern.empty() || pattern.back() != '*') return name == pattern;
        return name.substr(0, pattern.size() - 1) ==
               std::string_view(pattern).substr(0, pattern.size() - 1);
      });
}

bool IsVariableName(std::string_view name) {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_';
  });
}

absl::StatusOr<Environment> ChooseEnvironment(
    const Environment& here, const std::vector<Environment>& files,
    const std::vector<std::string>& exports) {
  Environment chosen;
  for (const auto& [name, value] : here) {
    if (MatchesAny(name, SentVariables()) &&
        !MatchesAny(name, NeverSentVariables()) && IsVariableName(name)) {
      chosen[name] = value;
    }
  }
  for (const Environment& file : files) {
    for (const auto& [name, value] : file) chosen[name] = value;
  }
  for (const std::string& asked : exports) {
    const absl::Status exported = Export(asked, here, chosen);
    if (!exported.ok()) return exported;
  }
  return chosen;
}

absl::StatusOr<Environment> ParseEnvironmentFile(std::string_view text) {
  Environment variables;
  int number = 0;
  size_t start = 0;
  while (start < text.size()) {
    const size_t end = std::min(text.find('\n', start), text.size());
    const std::string_view line = Trimmed(text.substr(start, end - start));
    start = end + 1;
    ++number;
    if (line.empty() || line[0] == '#') continue;
    const size_t equals = line.find('=');
    const std::string_view name = Trimmed(line.substr(0, equals));
    if (equals == std::string_view::npos || !IsVariableName(name) ||
        MatchesAny(name, NeverSentVariables()) ||
        line.find('\0') != std::string_view::npos) {
      return absl::InvalidArgumentError(
          absl::StrCat("line ", number, ": is not NAME=VALUE"));
    }
    variables[std::string(name)] =
        std::string(Trimmed(line.substr(equals + 1)));
  }
  return variables;
}

}  // namespace muster::launcher
