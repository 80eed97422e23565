#include "launcher/run_report/report_command.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "agent/logs/log_paths.h"
#include "base/owned_fd.h"
#include "base/unix_time.h"
#include "base/write_all.h"
#include "launcher/options/command_line.h"
#include "launcher/options/flag_table.h"
#include "launcher/run_report/report_page.h"
#include "launcher/run_report/run_files.h"

namespace muster::launcher {
namespace {

constexpr char kHead[] = R"(Usage:
  launch report [FLAGS] [RUN...]

Writes one HTML file about a run: what happened, when, why, and at what cost. It needs
no coordinator and no network, and a browser shows it from the disk.

RUN is a run's log folder (logs/latest), a folder of --log-dir (its newest run), an
event log, or a run id, with --log-dir, --event-log or --state-dir. Folders that were
copied from other nodes of the run may be named as well. With --state-dir, RUN may be
left out if the folder has one job.

)";

// Returns the file name of the report of a run.
std::string DefaultName(const std::string& run_id) {
  return absl::StrCat("report-", agent::RunFolder("", run_id).substr(1),
                      ".html");
}

// Returns OK if the file at `path` may be replaced: it does not exist, or is a
// report. Otherwise InvalidArgument.
absl::Status CheckReplaceable(const std::string& path) {
  struct stat facts;
  if (lstat(path.c_str(), &facts) != 0) {
    return errno == ENOENT
               ? absl::OkStatus()
               : absl::InvalidArgumentError(absl::StrCat(
                     "cannot write ", path, ": ", std::strerror(errno)));
  }
  const OwnedFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  char mark[sizeof(kReportMark) - 1] = {};
  const bool is_report = S_ISREG(facts.st_mode) && fd.get() >= 0 &&
                         read(fd.get(), mark, sizeof(mark)) == sizeof(mark) &&
                         std::memcmp(mark, kReportMark, sizeof(mark)) == 0;
  if (is_report) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      path, " exists and is no report; remove it, or name another file by -o"));
}

// Writes the report. An existing report is replaced only after the new one is
// complete.
absl::Status WriteReport(const std::string& path, const std::string& page) {
  const std::string fresh = absl::StrCat(path, ".", getpid(), ".new");
  const auto refuse = [&] {
    const int error = errno;
    unlink(fresh.c_str());
    return absl::InternalError(
        absl::StrCat("cannot write ", path, ": ", std::strerror(error)));
  };
  {
    const OwnedFd fd(
        open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (fd.get() < 0 || !WriteAll(fd.get(), page)) return refuse();
  }
  if (rename(fresh.c_str(), path.c_str()) != 0) return refuse();
  return absl::OkStatus();
}

struct ReportRequest {
  bool is_help = false;
  std::string output;  // path of the report; empty: DefaultName(); "-": stdout
  RunQuery query;
};

absl::StatusOr<ReportRequest> ParseReportRequest(
    const std::vector<std::string>& args,
    const std::map<std::string, std::string>& environment) {
  const std::vector<Flag> flags = ReportFlags();
  CommandLine all;
  ReportRequest request;
  // Flags and names may come in any order: each turn parses the flags before
  // the next name.
  for (std::vector<std::string> rest = args; !rest.empty();) {
    absl::StatusOr<CommandLine> line = ParseCommandLine(flags, rest);
    if (!line.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("report: ", line.status().message()));
    }
    for (auto& [name, texts] : line->values) {
      std::vector<std::string>& known = all.values[name];
      known.insert(known.end(), texts.begin(), texts.end());
    }
    rest = std::move(line->rest);
    if (rest.empty()) break;
    request.query.named.push_back(rest.front());
    rest.erase(rest.begin());
  }
  const FlagValues values(flags, all, environment);
  request.is_help = values.IsGiven("help");
  request.output = values.Text("output");
  request.query.log_dir = values.Text("log-dir");
  request.query.state_dir = values.Text("state-dir");
  const auto logs = all.values.find("event-log");
  if (logs != all.values.end()) request.query.event_logs = logs->second;
  return request;
}

}  // namespace

std::vector<Flag> ReportFlags() {
  constexpr PetVariable kNone = PetVariable::kNone;
  return {
      {.name = "output",
       .letter = 'o',
       .value = "FILE",
       .help = "The file to write, or - for stdout. Not given: "
               "report-RUN_ID.html in the current folder. An earlier report "
               "is replaced; any other file is not.",
       .completions = "<file>",
       .pet = kNone},
      {.name = "log-dir",
       .value = "DIR",
       .help = "The folder of --log-dir in which the run's folder is.",
       .completions = "<directory>"},
      {.name = "event-log",
       .value = "FILE",
       .help = "The event log of rendezvousd; may be given several times.",
       .completions = "<file>",
       .pet = kNone},
      {.name = "state-dir",
       .value = "DIR",
       .help = "The folder of --state-dir of rendezvousd or launch: the "
               "report then has what the coordinator recorded in its journal, "
               "also if there are no logs. The journal is only read, and a "
               "coordinator may run meanwhile.",
       .completions = "<directory>"},
      {.name = "help", .letter = 'h', .help = "Show this text.", .pet = kNone},
  };
}

int ReportCommand(const std::vector<std::string>& args,
                  const std::map<std::string, std::string>& environment,
                  const Voice& voice) {
  const absl::StatusOr<ReportRequest> request =
      ParseReportRequest(args, environment);
  if (!request.ok()) return voice.Refuse(request.status(), "report");
  if (request->is_help) {
    return Print(absl::StrCat(kHead, FlagHelp(ReportFlags())));
  }
  absl::StatusOr<RunReport> report = ReadRun(request->query);
  if (!report.ok()) {
    return voice.Refuse(absl::InvalidArgumentError(absl::StrCat(
                            "report: ", report.status().message())),
                        "report");
  }
  const std::string page = ReportPage(*report, UnixSeconds());
  if (request->output == "-") return Print(page);
  const std::string path =
      request->output.empty() ? DefaultName(report->run_id) : request->output;
  absl::Status status = CheckReplaceable(path);
  if (status.ok()) status = WriteReport(path, page);
  if (!status.ok()) return voice.Refuse(status, "report");
  for (const std::string& sentence : report->missing) voice.Notice(sentence);
  return Print(absl::StrCat(path, "\n"));
}

}  // namespace muster::launcher
