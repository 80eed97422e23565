#include "launcher/doctor/doctor_request.h"

#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/environment_value.h"
#include "launcher/options/command_line.h"
#include "launcher/options/flag.h"
#include "launcher/options/flag_table.h"
#include "launcher/options/option_values.h"

namespace muster::launcher {
namespace {

// Flags for the worker of `launch doctor --nodes` only; --help does not list
// them. Their values are: the file for the worker's result (-: stdout, encoded
// by OutcomeLines), the columns of the terminal (negative: without colours),
// the number of expected nodes, and this node's rank.
constexpr char kAsNode[] = "as-node";
constexpr char kInLines[] = "-";
constexpr char kColumns[] = "columns";
constexpr char kExpected[] = "expected";
constexpr char kOwnRank[] = "own-rank";

bool IsDoctors(const std::string& name) {
  return FindFlag(DoctorFlags(), name) != nullptr;
}

std::vector<Flag> FlagsFor(const std::vector<std::string>& arguments) {
  bool nodes = false;
  for (const std::string& argument : arguments) {
    nodes = nodes || argument == "--nodes";
  }
  std::vector<Flag> flags = nodes ? DoctorAndRunFlags() : DoctorFlags();
  for (const char* name : {kAsNode, kColumns, kExpected, kOwnRank}) {
    flags.push_back({.name = name, .value = "TEXT", .pet = PetVariable::kNone});
  }
  return flags;
}

absl::StatusOr<std::vector<rendezvous::Endpoint>> ReadCoordinator(
    const FlagValues& values,
    const std::map<std::string, std::string>& environment) {
  std::string origin = "--endpoint", text = values.Text("endpoint");
  if (text.empty()) {
    const auto inherited =
        NonEmptyEnvironmentValue(environment, "MUSTER_COORDINATOR");
    if (!inherited) return std::vector<rendezvous::Endpoint>();
    origin = "MUSTER_COORDINATOR";
    text = *inherited;
  }
  absl::StatusOr<std::vector<rendezvous::Endpoint>> endpoints =
      rendezvous::ParseEndpoints(text);
  if (!endpoints.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        origin, "=", text, ": ", std::string(endpoints.status().message())));
  }
  return endpoints;
}

// The arguments for the job: all given flags except those of the doctor itself.
std::vector<std::string> LaunchArguments(const CommandLine& line) {
  std::vector<std::string> arguments;
  for (const auto& [name, values] : line.values) {
    // Flags that the doctor reads itself and also passes to the job.
    const bool shared = name == "log-dir" || name == "token-file" ||
                        name == "tls-cert" || name == "tls-key" ||
                        name == "tls-ca";
    if (IsDoctors(name) && !shared) continue;
    for (const std::string& value : values) {
      arguments.push_back(absl::StrCat("--", name, "=", value));
    }
  }
  return arguments;
}

absl::StatusOr<DoctorRequest> Read(
    const CommandLine& line, const std::vector<Flag>& flags,
    const std::map<std::string, std::string>& environment) {
  FlagValues values(flags, line, environment);
  DoctorRequest request;
  bool json = false, quiet = false, nodes = false;
  values.Into("json", ReadSwitch, json);
  values.Into("quiet", ReadSwitch, quiet);
  std::string log_dir;
  values.Into("log-dir", ReadFolder, log_dir);
  values.Into("nodes", ReadSwitch, nodes);
  if (!values.status().ok()) return values.status();
  if (json) request.format = DoctorFormat::kJson;
  if (quiet) request.detail = Detail::kTroubleOnly;
  auto coordinator = ReadCoordinator(values, environment);
  if (!coordinator.ok()) return coordinator.status();
  request.coordinator = *std::move(coordinator);
  request.token_file = values.Text("token-file");
  request.tls = ReadTlsFiles(values);
  request.log_dir = log_dir;
  request.folders = ReadList(values.Text("folders"));
  request.outcome_file = values.Text(kAsNode);
  if (request.outcome_file == kInLines) request.outcome_file.clear();
  const auto count = [](const std::string& text) {
    return ReadNumber(text, 0, 1'000'000);
  };
  if (values.IsGiven(kExpected)) {
    values.Into(kExpected, count, request.expected);
  }
  if (values.IsGiven(kOwnRank)) {
    values.Into(kOwnRank, count, request.node_rank);
  }
  if (!values.status().ok()) return values.status();
  if (values.IsGiven(kColumns)) {
    int64_t columns = 80;
    values.Into(
        kColumns,
        [](const std::string& text) { return ReadNumber(text, -500, 500); },
        columns);
    if (!values.status().ok()) return values.status();
    request.target.columns = static_cast<int>(std::abs(columns));
    if (columns > 0) request.target.style = TextStyle::kColoured;
  }
  if (nodes) {
    request.way = DoctorRequest::Way::kAllNodes;
    request.launch_arguments = LaunchArguments(line);
  } else if (values.IsGiven(kAsNode)) {
    request.way = DoctorRequest::Way::kAsNode;
  }
  return request;
}

}  // namespace

std::vector<Flag> DoctorFlags() {
  constexpr PetVariable kNone = PetVariable::kNone;
  std::vector<Flag> flags = {
      {.name = "nodes",
       .help = "Look at all nodes of a job, and at what lies between them: the "
               "flags "
               "of a run say which (--nnodes and --rdzv-endpoint on each node, "
               "--hostfile, or Slurm's environment under srun).",
       .pet = kNone},
      {.name = "endpoint",
       .value = "HOST[:PORT],...",
       .help = "Ask this coordinator, too: whether it answers, which address "
               "it sees, "
               "what time it has; of several endpoints the first that answers. "
               "Not given: MUSTER_COORDINATOR in the "
               "environment.",
       .pet = kNone},
      {.name = "log-dir",
       .value = "DIR",
       .help = "Where a job's logs would go.",
       .completions = "<directory>",
       .pet = kNone},
      {.name = "folders",
       .value = "LIST",
       .help = "More folders that must take files, such as checkpoints'.",
       .completions = "<directory>",
       .pet = kNone},
      {.name = "token-file",
       .value = "FILE",
       .help = "A file that holds the job's shared secret, for --endpoint.",
       .completions = "<file>",
       .pet = kNone},
      {.name = "json", .help = "Print JSON, for programs.", .pet = kNone},
      {.name = "quiet", .help = "Show warnings and errors only.", .pet = kNone},
      {.name = "help", .letter = 'h', .help = "Show this text.", .pet = kNone},
  };
  const std::vector<Flag> tls = TlsFlags();
  flags.insert(flags.end() - 3, tls.begin(), tls.end());
  return flags;
}

std::vector<Flag> DoctorAndRunFlags() {
  std::vector<Flag> flags = DoctorFlags();
  for (const Flag& flag : FlagsOf(FlagUser::kLaunchOnly)) {
    if (!IsDoctors(flag.name)) flags.push_back(flag);
  }
  return flags;
}

std::string DoctorHelp() {
  return absl::StrCat(R"(Usage:
  launch doctor [FLAGS]
      Look at this node: what keeps it from training, or slows it down, each
      with a remedy. Changes nothing.
  launch doctor --nodes [FLAGS] [FLAGS OF A RUN]
      Look at all nodes and at what lies between them: versions that differ,
      clocks, firewalls. Run the same on every node, or once with --hostfile;
      under Slurm: srun launch doctor --nodes.

)",
                      FlagHelp(DoctorFlags()), R"(
Exit status:
  0  Nothing worse than a note.
  2  The command line is wrong.
  3  Warnings: it trains, but slowly, or fails now and then.
  4  Errors: training fails, or gives wrong results.
  1  This node met no other, or nothing could be printed.

docs/DOCTOR.md explains each finding by the name in brackets.
)");
}

absl::StatusOr<DoctorRequest> ParseDoctorRequest(
    const std::vector<std::string>& arguments,
    const std::map<std::string, std::string>& environment) {
  const std::vector<Flag> flags = FlagsFor(arguments);
  const absl::StatusOr<CommandLine> line = ParseCommandLine(flags, arguments);
  if (!line.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("doctor: ", std::string(line.status().message())));
  }
  if (line->values.count("help") > 0) {
    DoctorRequest help;
    help.way = DoctorRequest::Way::kHelp;
    return help;
  }
  if (!line->rest.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "doctor: takes no program, and ", line->rest.front(), " is one"));
  }
  absl::StatusOr<DoctorRequest> request = Read(*line, flags, environment);
  if (request.ok()) return request;
  return absl::InvalidArgumentError(
      absl::StrCat("doctor: ", std::string(request.status().message())));
}

}  // namespace muster::launcher
