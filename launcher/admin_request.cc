#include "launcher/admin_request.h"

#include <re2/re2.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/environment_value.h"
#include "launcher/options/command_line.h"
#include "launcher/options/option_values.h"
#include "launcher/subcommands.h"
#include "rendezvous/protocol/node_fault.h"

namespace muster::launcher {
namespace {

constexpr char kDefaultEndpoint[] = "127.0.0.1:29400";
constexpr int64_t kMaxRank = std::numeric_limits<int32_t>::max() - 1;

// Reads a list of ranks such as "3" or "0-3,8". InvalidArgument: not a list of
// ranks, or more than kMaxInquiredRanks ranks.
absl::StatusOr<std::vector<int>> ReadRanks(const std::string& text) {
  const absl::Status wrong = absl::InvalidArgumentError(
      "is no list of ranks; write for example 3, or 0-3,8");
  std::vector<int> ranks;
  for (const std::string& part : ReadList(text)) {
    const size_t dash = part.find('-');
    const absl::StatusOr<int64_t> first =
        ReadNumber(part.substr(0, dash), 0, kMaxRank);
    const absl::StatusOr<int64_t> last =
        dash == std::string::npos
            ? first
            : ReadNumber(part.substr(dash + 1), 0, kMaxRank);
    if (!first.ok() || !last.ok() || *last < *first) return wrong;
    if (static_cast<size_t>(*last - *first) + ranks.size() >=
        rendezvous::kMaxInquiredRanks) {
      return absl::InvalidArgumentError(
          absl::StrCat("names more than ", rendezvous::kMaxInquiredRanks,
                       " ranks; leave it out for all ranks"));
    }
    for (int64_t rank = *first; rank <= *last; ++rank) {
      ranks.push_back(static_cast<int>(rank));
    }
  }
  if (ranks.empty()) return wrong;
  return ranks;
}

// Reads a time span such as "90", "90s", "5m" or "2h".
absl::StatusOr<Duration> ReadSpan(const std::string& text) {
  std::string number = text;
  int64_t unit = 1;
  if (!number.empty()) {
    const std::string_view units = "smh";
    const size_t at = units.find(number.back());
    constexpr int64_t kSeconds[] = {1, 60, 3600};
    if (at != std::string_view::npos) {
      unit = kSeconds[at];
      number.pop_back();
    }
  }
  const absl::StatusOr<Duration> read = ReadPositiveSeconds(number);
  if (!read.ok() || *read > std::chrono::hours(24 * 366) / unit) {
    return absl::InvalidArgumentError(
        "is no time span up to a year; write for example 90s, 5m or 2h");
  }
  return *read * unit;
}

// Reads a number of lines. Returns -1 for "all": every line that a node keeps.
absl::StatusOr<int> ReadLines(const std::string& text) {
  if (text == "all") return -1;
  const absl::StatusOr<int64_t> lines =
      ReadNumber(text, 0, rendezvous::kMaxInquiredLines);
  if (!lines.ok()) return lines.status();
  return static_cast<int>(*lines);
}

// Checks that `text` is a valid RE2 regular expression of at most
// kMaxPatternBytes.
absl::StatusOr<std::string> ReadPattern(const std::string& text) {
  if (text.size() > rendezvous::kMaxPatternBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "is longer than ", rendezvous::kMaxPatternBytes, " bytes"));
  }
  RE2::Options options;
  options.set_log_errors(false);
  const RE2 pattern(text, options);
  if (pattern.ok()) return text;
  return absl::InvalidArgumentError(
      absl::StrCat("is no regular expression of RE2: ", pattern.error()));
}

// Checks that the subcommand accepts each given flag.
absl::Status CheckFlags(const FlagValues& values,
                        const Subcommand& subcommand) {
  for (const AdminFlag& row : AdminFlagTable()) {
    if (row.takers.empty() || !values.IsGiven(row.flag.name) ||
        std::ranges::find(row.takers, subcommand.id) != row.takers.end()) {
      continue;
    }
    return absl::InvalidArgumentError(absl::StrCat(
        subcommand.name, ": --", row.flag.name, " is a flag of launch ",
        NamesOf(row.takers, ", ", " and "), " only"));
  }
  return absl::OkStatus();
}

// Reads the flags of `launch logs` and `launch stacks`.
void ReadQuestion(FlagValues& values, AdminRequest& request) {
  rendezvous::Inquiry& question = request.question;
  question.kind = request.verb == SubcommandId::kStacks
                      ? rendezvous::Inquiry::Kind::kStacks
                      : rendezvous::Inquiry::Kind::kLogs;
  if (values.IsGiven("rank")) values.Into("rank", ReadRanks, question.ranks);
  request.node = values.Text("node");
  bool follow = false;
  values.Into("follow", ReadSwitch, follow);
  if (follow) question.follow = rendezvous::Inquiry::Follow::kYes;
  // If --since is given without --lines, all lines since that time are wanted.
  if (values.IsGiven("since")) {
    values.Into("since", ReadSpan, question.since);
    question.lines = -1;
  }
  if (values.IsGiven("lines")) values.Into("lines", ReadLines, question.lines);
  if (values.IsGiven("grep")) {
    values.Into("grep", ReadPattern, question.pattern);
  }
  bool native = false;
  values.Into("native", ReadSwitch, native);
  if (native) question.frames = rendezvous::Inquiry::Frames::kNative;
}

// Reads the value of --free, --ban or --reason of `launch nodes`: a host name,
// or the reason of a ban. InvalidArgument: the text is empty, or longer than
// kMaxFaultBytes.
absl::StatusOr<std::string> ReadWords(const std::string& text) {
  if (text.empty()) return absl::InvalidArgumentError("is empty");
  if (text.size() > rendezvous::kMaxFaultBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("is longer than ", rendezvous::kMaxFaultBytes, " bytes"));
  }
  return text;
}

// Reads the flags of `launch nodes`.
absl::Status ReadOrder(FlagValues& values, AdminRequest& request) {
  for (const auto& [name, field] :
       {std::pair("free", &request.free), std::pair("ban", &request.ban),
        std::pair("reason", &request.reason)}) {
    if (values.IsGiven(name)) values.Into(name, ReadWords, *field);
  }
  if (!request.free.empty() && !request.ban.empty()) {
    return absl::InvalidArgumentError(
        "nodes: --free and --ban exclude each other");
  }
  if (request.ban.empty() && !request.reason.empty()) {
    return absl::InvalidArgumentError(
        "nodes: --reason is the reason of --ban, which is not given");
  }
  return absl::OkStatus();
}

// Checks a Slurm job id: "41", "5_3" in an array, "7+1" in a heterogeneous job.
// Refuses other characters, because the id becomes an argument of squeue.
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

// Fills in the coordinator from the environment; called if no flag names a
// coordinator.
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
  const Subcommand* const subcommand = FindSubcommand(args[0]);
  MUSTER_CHECK(subcommand != nullptr) << args[0];
  request.verb = subcommand->id;
  request.args = args;
  absl::StatusOr<CommandLine> line =
      ParseCommandLine(flags, {args.begin() + 1, args.end()});
  if (!line.ok()) return line.status();
  const absl::StatusOr<std::vector<std::string>> arguments =
      TakeArguments(*line, flags);
  if (!arguments.ok()) return arguments.status();
  if (line->values.count("help") > 0) {
    request.help = AdminHelpAsked::kYes;
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
  const absl::Status fitting = CheckFlags(values, *subcommand);
  if (!fitting.ok()) return fitting;
  ReadQuestion(values, request);
  const absl::Status order = ReadOrder(values, request);
  if (!order.ok()) return order;
  if (!values.status().ok()) return values.status();

  const bool drains = request.verb == SubcommandId::kDrain;
  if (request.verb == SubcommandId::kNodes && !arguments->empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "nodes: takes no argument, and ", arguments->front(),
        " is one; write launch nodes, or launch nodes --free HOST"));
  }
  if (drains && arguments->empty()) {
    return absl::InvalidArgumentError(
        "drain: names no node; write launch drain NODE, see launch status");
  }
  // Without an argument, the subcommand applies to the coordinator's only job.
  // An empty argument comes from an unset variable of a script and is refused.
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
