#include "launcher/admin_request.h"

#include <limits>

#include "absl/strings/str_cat.h"
#include "base/environment_value.h"
#include "launcher/options/command_line.h"
#include "launcher/options/option_values.h"
#include "launcher/subcommands.h"

namespace muster::launcher {
namespace {

constexpr char kDefaultEndpoint[] = "127.0.0.1:29400";

AdminVerb VerbOf(const std::string& name) {
  if (name == "watch") return AdminVerb::kWatch;
  if (name == "top") return AdminVerb::kTop;
  if (name == "cancel") return AdminVerb::kCancel;
  if (name == "drain") return AdminVerb::kDrain;
  return AdminVerb::kStatus;
}

// Checks a Slurm job id: "41", "5_3" in an array, "7+1" in a heterogeneous job.
// The id becomes a word of a command line.
absl::StatusOr<std::string> ReadSlurmJob(const std::string& text) {
  if (!text.empty() &&
      text.find_first_not_of("0123456789_+") == std::string::npos) {
    return text;
  }
  return absl::InvalidArgumentError(
      "is no job of Slurm's; write for example 4711, or 5_3 in an array");
}

// Stores the Slurm job that this process runs in, if any, in `request`.
absl::Status TakeSlurmJob(const std::map<std::string, std::string>& environment,
                          AdminRequest& request) {
  const std::optional<std::string> job =
      NonEmptyEnvironmentValue(environment, "SLURM_JOB_ID");
  if (!job) return absl::OkStatus();
  const absl::StatusOr<std::string> read = ReadSlurmJob(*job);
  if (!read.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("SLURM_JOB_ID=", *job, ": ", read.status().message()));
  }
  request.slurm_job = *read;
  const absl::StatusOr<int64_t> step = ReadNumber(
      NonEmptyEnvironmentValue(environment, "SLURM_STEP_ID").value_or(""), 0,
      std::numeric_limits<uint32_t>::max());
  if (step.ok()) request.slurm_step = static_cast<uint64_t>(*step);
  return absl::OkStatus();
}

// Fills in the coordinator from the environment if no flag names one.
absl::Status TakeSurroundings(
    const std::map<std::string, std::string>& environment,
    AdminRequest& request) {
  const std::optional<std::string> inherited =
      NonEmptyEnvironmentValue(environment, "MUSTER_COORDINATOR");
  if (!inherited) {
    request.endpoints = *rendezvous::ParseEndpoints(kDefaultEndpoint);
    return TakeSlurmJob(environment, request);
  }
  absl::StatusOr<std::vector<rendezvous::Endpoint>> endpoints =
      rendezvous::ParseEndpoints(*inherited);
  if (!endpoints.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "MUSTER_COORDINATOR=", *inherited, ": ", endpoints.status().message()));
  }
  request.endpoints = *std::move(endpoints);
  return absl::OkStatus();
}

// Returns all arguments that are not flags. Flags may stand before and after
// these arguments.
absl::StatusOr<std::vector<std::string>> TakeArguments(
    CommandLine& line, const std::vector<Flag>& flags) {
  std::vector<std::string> arguments;
  while (!line.rest.empty()) {
    arguments.push_back(line.rest.front());
    absl::StatusOr<CommandLine> more =
        ParseCommandLine(flags, {line.rest.begin() + 1, line.rest.end()});
    if (!more.ok()) return more.status();
    for (auto& [name, values] : more->values) {
      line.values[name] = std::move(values);
    }
    line.rest = std::move(more->rest);
  }
  return arguments;
}

}  // namespace

absl::StatusOr<AdminRequest> ParseAdminRequest(
    const std::vector<std::string>& args,
    const std::map<std::string, std::string>& environment) {
  const std::vector<Flag> flags = AdminFlags();
  AdminRequest request;
  request.verb = VerbOf(args[0]);
  request.args = args;
  absl::StatusOr<CommandLine> line =
      ParseCommandLine(flags, {args.begin() + 1, args.end()});
  if (!line.ok()) return line.status();
  const absl::StatusOr<std::vector<std::string>> arguments =
      TakeArguments(*line, flags);
  if (!arguments.ok()) return arguments.status();
  if (line->values.count("help") > 0) {
    request.verb = AdminVerb::kHelp;
    return request;
  }

  FlagValues values(flags, *line, environment);
  if (values.IsGiven("endpoint")) {
    values.Into("endpoint", rendezvous::ParseEndpoints, request.endpoints);
  } else if (values.IsGiven("slurm-job")) {
    values.Into("slurm-job", ReadSlurmJob, request.slurm_job);
  } else {
    const absl::Status around = TakeSurroundings(environment, request);
    if (!around.ok()) return around;
  }
  request.run_id = values.Text("run-id");
  request.token_file = values.Text("token-file");
  request.tls = ReadTlsFiles(values);
  bool json = false;
  values.Into("json", ReadSwitch, json);
  request.format = json ? AdminFormat::kJson : AdminFormat::kText;
  if (!values.status().ok()) return values.status();

  const bool drains = request.verb == AdminVerb::kDrain;
  if (drains && arguments->empty()) {
    return absl::InvalidArgumentError(
        "drain: names no node; write launch drain NODE, see launch status");
  }
  // An empty argument comes from an unset variable of a script. An empty
  // argument must not be taken for a missing one, which means the coordinator's
  // only job.
  if (!arguments->empty() && arguments->front().empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        args[0], ": its argument is empty; write launch ", args[0],
        drains ? " NODE" : " RUN_ID, or nothing for the only job"));
  }
  if (arguments->size() > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(args[0], ": has one argument too many, ", (*arguments)[1],
                     "; write launch ", args[0], drains ? " NODE" : " RUN_ID"));
  }
  if (!arguments->empty()) {
    (drains ? request.node : request.run_id) = arguments->front();
  }
  return request;
}

}  // namespace muster::launcher
